package inspect

import (
	"cmp"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/lockredis/lockredis/internal/lockkeys"
	"github.com/lockredis/lockredis/store"
)

// Permit is an acquired permit of a permit semaphore.
type Permit struct {
	DB   int
	Name string // of the semaphore
	ID   string // as the lock client's caller knows it: 32 hexadecimal digits
	// Deadline is when the lease ends, in Unix ms; 0 means never.
	Deadline int64
	Since    int64  // when the permit was acquired, Unix ms; 0: unknown
	By       Origin // the client that acquired the permit
}

// endless is the least score of a permit whose lease never ends. Redisson writes one a little
// larger, as a double.
const endless = 9e14

// Permits returns the permits whose lease has not ended, in all databases, by database, name
// and id.
func (v View) Permits() (permits []Permit) {
	now := v.state.Space().Now()
	v.state.ScriptKeys(func(k ScriptKey) { permits = append(permits, v.permitsAt(k, now)...) })
	sortPermits(permits)
	return permits
}

func sortPermits(permits []Permit) {
	slices.SortFunc(permits, func(a, b Permit) int {
		return cmp.Or(cmp.Compare(a.DB, b.DB), cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID))
	})
}

// permitsAt returns the permits under a key whose lease ends after a time in Unix ms, in no order.
// There are none unless the key belongs to a permit semaphore.
func (v View) permitsAt(k ScriptKey, after int64) (permits []Permit) {
	name := k.Hints.Semaphore
	if name == "" {
		return nil
	}
	leases, ok := v.valueAt(k.DB, k.Key).(*store.ZSet)
	if !ok {
		return nil
	}
	leases.Each(func(item store.ZItem) bool {
		p := Permit{DB: k.DB, Name: name, ID: permitID(item.Member), By: k.By}
		if entry, ok := k.Entries.Get([]byte(item.Member)); ok {
			p.Since, p.By = entry.Since, entry.By
		}
		if item.Score < endless {
			p.Deadline = int64(item.Score)
		}
		if p.Deadline == 0 || p.Deadline > after {
			permits = append(permits, p)
		}
		return true
	})
	return permits
}

// LapsedSince returns the permit semaphores that have permits whose lease has ended since a time in
// Unix ms, by database and name. They have no Holders. The permits are still recorded: the next
// client's script returns them.
func (v View) LapsedSince(then int64) (locks []Lock) {
	now := v.state.Space().Now()
	v.state.ScriptKeys(func(k ScriptKey) {
		lapsed := func(p Permit) bool { return p.Deadline > 0 && p.Deadline <= now }
		if slices.ContainsFunc(v.permitsAt(k, then), lapsed) {
			locks = append(locks, Lock{DB: k.DB, Name: k.Hints.Semaphore, Kind: PermitSemaphore})
		}
	})
	sortLocks(locks)
	return locks
}

// freePermits returns how many permits of a permit semaphore are free. A permit whose lease has ended
// is free.
func (v View) freePermits(db int, name string) (free int64) {
	if counter, ok := v.valueAt(db, name).(*store.String); ok {
		free, _ = strconv.ParseInt(string(counter.Bytes(nil)), 10, 64)
	}
	now := float64(v.state.Space().Now())
	if leases, ok := v.valueAt(db, lockkeys.PermitTimeouts(name)).(*store.ZSet); ok {
		leases.Each(func(item store.ZItem) bool {
			if item.Score > now {
				return false
			}
			free++
			return true
		})
	}
	return free
}

// permitID returns the id of a permit by its member. Redisson and rlock store 16 bytes.
func permitID(member string) string {
	if len(member) == tokenBytes {
		return hex.EncodeToString([]byte(member))
	}
	return strings.Clone(member)
}

// emptySemaphores returns the channels that clients listen to, of semaphores without a free permit
// in some database. A missing semaphore is not among them: the test that used it has
// deleted it.
func (v View) emptySemaphores(clients []Client) map[string]bool {
	var empty map[string]bool // nil in most cases
	add := func(topics []Topic) {
		for _, topic := range topics {
			name, ok := lockkeys.SemaphoreName(topic.Name)
			if !ok || !v.isEmpty(name) && !v.isEmpty(lockkeys.Braced(name)) {
				continue
			}
			if empty == nil {
				empty = map[string]bool{}
			}
			empty[topic.Name] = true
		}
	}
	for i := range clients {
		add(clients[i].Channels)
		add(clients[i].ShardChannels)
	}
	return empty
}

// isEmpty reports whether a semaphore has no free permit in some database. A permit whose lease has
// ended is free: the next caller's script returns it to the counter.
func (v View) isEmpty(name string) bool {
	now := float64(v.state.Space().Now())
	for n := range v.state.Space().Opened() {
		counter, ok := v.valueAt(n, name).(*store.String)
		if !ok {
			continue
		}
		free, err := strconv.ParseInt(string(counter.Bytes(nil)), 10, 64)
		if err != nil || free > 0 {
			continue
		}
		ended := false
		if leases, ok := v.valueAt(n, lockkeys.PermitTimeouts(name)).(*store.ZSet); ok {
			leases.Each(func(item store.ZItem) bool {
				ended = item.Score <= now
				return !ended
			})
		}
		if !ended {
			return true
		}
	}
	return false
}
