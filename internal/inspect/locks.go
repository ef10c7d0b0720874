package inspect

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/lockredis/lockredis/internal/lockkeys"
	"github.com/lockredis/lockredis/store"
)

// Kind is a kind of lock.
type Kind string

// The kinds that the server can tell apart. A spin lock and a part of a multi-lock look
// like a plain lock.
const (
	Plain  Kind = "lock"
	Fair   Kind = "fair"
	Fenced Kind = "fenced"
	Read   Kind = "read"  // a read-write lock that is held for reading
	Write  Kind = "write" // a read-write lock that is held for writing
)

// Lock is a lock that is held or queued for.
type Lock struct {
	DB   int
	Name string
	Kind Kind
	// Holders own the lock, sorted by owner. A read lock can have several. A fair lock
	// that was released while others were in its queue has none.
	Holders []Holder
	// Deadline is when the lease ends, in Unix ms; 0 means never.
	Deadline int64
	// Queue lists the owners in a fair lock's queue, the next one first.
	Queue []string
	// Writer is the client whose script wrote the lock last. It is zero without Holders.
	Writer Origin
	// Subscribers is how many clients are subscribed to the lock's release. One client
	// may wait there for many goroutines or threads.
	Subscribers int
}

// Holder is an owner of a lock.
type Holder struct {
	Owner string // "<uuid>:<thread>"
	Mode  Kind   // Read or Write for a read-write lock, "" for others
	Count int    // how often the owner has acquired the lock
}

// Locks returns the locks that are held or queued for, in all databases, by database and
// name.
func (v View) Locks() []Lock {
	locks := v.held()
	seen := make(map[lockID]bool, len(locks))
	for i := range locks {
		seen[locks[i].id()] = true
	}
	locks = append(locks, v.onlyQueued(seen)...)
	for i := range locks {
		locks[i].Subscribers = v.subscribers(&locks[i])
	}
	slices.SortFunc(locks, func(a, b Lock) int { return a.id().compare(b.id()) })
	return locks
}

// lockID tells locks apart.
type lockID struct {
	db   int
	name string
}

func (l *Lock) id() lockID { return lockID{l.DB, l.Name} }

func (a lockID) compare(b lockID) int {
	return cmp.Or(cmp.Compare(a.db, b.db), cmp.Compare(a.name, b.name))
}

// held returns the locks that have holders, in no order.
func (v View) held() (locks []Lock) {
	v.state.ScriptKeys(func(k ScriptKey) {
		if l, ok := v.lockAt(k); ok {
			locks = append(locks, l)
		}
	})
	return locks
}

// onlyQueued returns the fair locks that are not in seen and have a queue. It adds them to
// seen.
func (v View) onlyQueued(seen map[lockID]bool) (locks []Lock) {
	space := v.state.Space()
	for n := range space.Len() {
		space.DB(n).Each(func(e *store.Entry) bool {
			name, ok := lockkeys.FairName(e.Key())
			id := lockID{n, strings.Clone(name)}
			if !ok || seen[id] {
				return true
			}
			seen[id] = true
			if queue := v.queue(n, name); len(queue) > 0 {
				locks = append(locks, Lock{DB: n, Name: id.name, Kind: Fair, Queue: queue})
			}
			return true
		})
	}
	return locks
}

// lockAt reads the lock under a key. ok is false when the key holds no lock.
func (v View) lockAt(k ScriptKey) (l Lock, ok bool) {
	e := v.state.Space().DB(k.DB).Peek([]byte(k.Key))
	if e == nil {
		return l, false
	}
	hash, ok := e.Value().(*store.Hash)
	if !ok {
		return l, false
	}
	l = Lock{DB: k.DB, Name: k.Key, Kind: Plain, Writer: k.By}
	if mode, has := hash.Get([]byte("mode")); has {
		l.Kind = Kind(mode)
	}
	if !l.readHolders(hash) {
		return l, false
	}
	if e.HasDeadline() {
		l.Deadline = e.Deadline()
	}
	l.Queue = v.queue(k.DB, k.Key)
	switch {
	case l.Kind != Plain:
	case len(l.Queue) > 0 || slices.Contains(k.Named, lockkeys.FairQueue(k.Key)):
		l.Kind = Fair
	case slices.Contains(k.Named, lockkeys.FencingToken(k.Key)):
		l.Kind = Fenced
	}
	return l, true
}

// readHolders reads the fields of a hash as holders. It reports false when a field is not
// one, or when there are none.
func (l *Lock) readHolders(hash *store.Hash) bool {
	readWrite := l.Kind == Read || l.Kind == Write
	valid := readWrite || l.Kind == Plain
	hash.Each(func(field, value []byte) bool {
		if l.Kind != Plain && string(field) == "mode" {
			return true
		}
		h := Holder{Owner: string(field)}
		if readWrite {
			owner, write := strings.CutSuffix(h.Owner, ":write")
			if h.Owner, h.Mode = owner, Read; write {
				h.Mode = Write
			}
		}
		count, err := strconv.Atoi(string(value))
		h.Count = count
		valid = valid && err == nil && isOwner(h.Owner)
		l.Holders = append(l.Holders, h)
		return valid
	})
	slices.SortFunc(l.Holders, func(a, b Holder) int {
		return cmp.Or(cmp.Compare(a.Owner, b.Owner), cmp.Compare(a.Mode, b.Mode))
	})
	return valid && len(l.Holders) > 0
}

// isOwner reports whether s is a client's UUID and a thread's number. The locks of a
// Redisson transaction have the transaction's UUID behind.
func isOwner(s string) bool {
	parts := strings.Split(s, ":")
	switch {
	case len(parts) != 2 && len(parts) != 3, !isUUID(parts[0]):
		return false
	case len(parts) == 3 && !isUUID(parts[2]):
		return false
	}
	_, err := strconv.ParseInt(parts[1], 10, 64)
	return err == nil
}

func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i, c := range s {
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if c != '-' {
				return false
			}
		} else if !strings.ContainsRune("0123456789abcdefABCDEF", c) {
			return false
		}
	}
	return true
}

// queue returns the owners in a fair lock's queue: first the list, then the owners that
// have a timeout and are missing in the list.
func (v View) queue(db int, name string) (owners []string) {
	seen := map[string]bool{}
	add := func(owner string) {
		if !seen[owner] {
			seen[owner] = true
			owners = append(owners, strings.Clone(owner))
		}
	}
	if list, ok := v.valueAt(db, lockkeys.FairQueue(name)).(*store.List); ok {
		list.Each(func(elem []byte) bool {
			add(string(elem))
			return true
		})
	}
	if timeouts, ok := v.valueAt(db, lockkeys.FairTimeouts(name)).(*store.ZSet); ok {
		timeouts.Each(func(item store.ZItem) bool {
			add(item.Member)
			return true
		})
	}
	return owners
}

// valueAt returns a key's value, nil when the key is missing.
func (v View) valueAt(db int, key string) store.Value {
	if e := v.state.Space().DB(db).Peek([]byte(key)); e != nil {
		return e.Value()
	}
	return nil
}

// subscribers returns how many clients are subscribed to the release of a lock.
func (v View) subscribers(l *Lock) int {
	switch l.Kind {
	case Read, Write:
		return v.state.Subscribers(lockkeys.RWChannel(l.Name))
	case Fair:
		n := 0
		for _, owner := range l.Queue {
			n += v.state.Subscribers(lockkeys.FairChannel(l.Name, owner))
		}
		return n
	}
	return v.state.Subscribers(lockkeys.Channel(l.Name))
}
