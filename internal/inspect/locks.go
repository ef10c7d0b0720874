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
	// Multi is a multi-lock over a group of values, in Redisson's RedissonFasterMultiLock form:
	// one hash has all of them.
	Multi Kind = "multi"
	// Set is a lock in the form of redislock and redsync: a string with a time to live that
	// was set on condition that there is no key yet. Its value is the holder's token.
	Set Kind = "set"

	// Only View.List has these kinds.

	ReadWrite       Kind = "read-write" // a read-write lock that clients wait for and no owner holds
	PermitSemaphore Kind = "permit-semaphore"
	Semaphore       Kind = "semaphore"        // clients wait for a permit of it
	CountDownLatch  Kind = "count-down-latch" // clients wait for it
)

// Family returns the kind without the way in which the lock is held: "read-write" for Read and
// Write.
func (k Kind) Family() string {
	if k == Read || k == Write {
		return string(ReadWrite)
	}
	return string(k)
}

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
	Queue []Waiter
	// Writer is the client whose script wrote the lock last. It is zero without Holders.
	Writer Origin
	// Listeners are the clients that are subscribed to the lock's release, without the
	// owners in the queue. One client may wait there for many goroutines or threads. Only
	// View.List tells them.
	Listeners []Waiter
}

// Holder is an owner of a lock.
type Holder struct {
	Owner string // "<uuid>:<thread>"; the token for Set
	Mode  Kind   // Read or Write for a read-write lock, "" for others
	Count int    // how often the owner has acquired the lock
	// Deadline is when the owner's lease ends, in Unix ms; 0 means never. A reader's may end
	// before the lock's.
	Deadline int64
	Since    int64  // when the owner acquired the lock first, Unix ms; 0: unknown
	By       Origin // the client that acquired the lock
}

// Waiter is an owner or a client that waits for a lock.
type Waiter struct {
	Owner string // "" for a client that is subscribed to the release
	Since int64  // Unix ms; 0: unknown
	By    Origin // zero: unknown
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
	locks = append(locks, v.set()...)
	sortLocks(locks)
	return locks
}

func sortLocks(locks []Lock) {
	slices.SortFunc(locks, func(a, b Lock) int {
		return cmp.Or(a.id().compare(b.id()), cmp.Compare(a.Kind, b.Kind))
	})
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
	var found []lockID // looking at a queue may expire keys, so the loop over the keys does not
	for n, db := range v.state.Space().Opened() {
		db.Each(func(e *store.Entry) bool {
			name, ok := lockkeys.FairName(e.Key())
			if id := (lockID{n, name}); ok && !seen[id] {
				id.name = strings.Clone(name)
				seen[id] = true
				found = append(found, id)
			}
			return true
		})
	}
	for _, id := range found {
		if queue := v.queue(id.db, id.name); len(queue) > 0 {
			locks = append(locks, Lock{DB: id.db, Name: id.name, Kind: Fair, Queue: queue})
		}
	}
	return locks
}

// lockAt reads the lock under a key. ok is false when the key holds no lock.
func (v View) lockAt(k ScriptKey) (l Lock, ok bool) {
	db := v.state.Space().DB(k.DB)
	e := db.Peek([]byte(k.Key))
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
	ours := func(id string) bool { return v.known[id] || k.Hints.Lock }
	if !readHolders(&l, hash, ours, k.Entries) &&
		!readGroup(&l, hash, k.Entries, v.state.Space().Now()) {
		return l, false
	}
	if e.HasDeadline() {
		l.Deadline = db.Deadline(e)
		v.setLeases(&l)
	}
	l.Queue = v.queue(k.DB, k.Key)
	switch {
	case l.Kind != Plain:
	case len(l.Queue) > 0 || k.Hints.Fair:
		l.Kind = Fair
	case k.Hints.Fenced:
		l.Kind = Fenced
	}
	return l, true
}

// readHolders reads the fields of a hash as holders. It reports false when a field is not
// one, or when there are none. ours reports whether an id that is no UUID is a lock client's. It
// is no method of Lock, which many packages name (Decisions in ARCHITECTURE.md).
func readHolders(
	l *Lock, hash *store.Hash, ours func(id string) bool, entries *Entries,
) bool {
	readWrite := l.Kind == Read || l.Kind == Write
	valid := readWrite || l.Kind == Plain
	hash.Each(func(field, value []byte) bool {
		if l.Kind != Plain && string(field) == "mode" {
			return true
		}
		h := Holder{Owner: string(field), By: l.Writer}
		if entry, ok := entries.Get(field); ok {
			h.Since, h.By = entry.Since, entry.By
		}
		if readWrite {
			owner, write := strings.CutSuffix(h.Owner, writeEnd)
			if h.Owner, h.Mode = owner, Read; write {
				h.Mode = Write
			}
		}
		count, err := strconv.Atoi(string(value))
		h.Count = count
		valid = valid && err == nil && (isOwner(h.Owner) || isOwnerOf(h.Owner, ours))
		l.Holders = append(l.Holders, h)
		return valid
	})
	slices.SortFunc(l.Holders, func(a, b Holder) int {
		return cmp.Or(cmp.Compare(a.Owner, b.Owner), cmp.Compare(a.Mode, b.Mode))
	})
	return valid && len(l.Holders) > 0
}

// writeEnd ends the field of an owner that holds a read-write lock for writing.
const writeEnd = ":write"

// isOwner reports whether s is a client's UUID and a thread's number. The locks of a
// Redisson transaction have the transaction's id behind: 32 hexadecimal digits, or a UUID in
// early versions.
func isOwner(s string) bool {
	id, rest, ok := strings.Cut(s, ":")
	if !ok || !isUUID(id) {
		return false
	}
	thread, transaction, has := strings.Cut(rest, ":")
	if has && !isUUID(transaction) && !isHex(transaction) {
		return false
	}
	_, err := strconv.ParseInt(thread, 10, 64)
	return err == nil
}

// isOwnerOf reports whether s is the id of one of our clients and a thread's number.
func isOwnerOf(s string, ours func(id string) bool) bool {
	colon := strings.LastIndexByte(s, ':')
	if colon <= 0 {
		return false
	}
	_, err := strconv.ParseInt(s[colon+1:], 10, 64)
	return err == nil && ours(s[:colon])
}

// uuidLen is the length of a UUID as text.
const uuidLen = 36

func isUUID(s string) bool {
	if len(s) != uuidLen {
		return false
	}
	if s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return false
	}
	for i := range uuidLen {
		if !uuidByte[s[i]] {
			return false
		}
	}
	return strings.Count(s, "-") == 4
}

// isHex reports whether s is tokenBytes as hexadecimal digits.
func isHex(s string) bool {
	return len(s) == 2*tokenBytes && only(s, hexDigits)
}

// uuidByte has true for the bytes of a UUID.
var uuidByte = func() (is [256]bool) {
	for _, c := range "-0123456789abcdefABCDEF" {
		is[c] = true
	}
	return is
}()

// queue returns the owners in a fair lock's queue: first the list, then the owners that
// have a timeout and are missing in the list.
func (v View) queue(db int, name string) (waiters []Waiter) {
	queue, timeouts := lockkeys.FairQueue(name), lockkeys.FairTimeouts(name)
	list, _ := v.valueAt(db, queue).(*store.List)
	zset, _ := v.valueAt(db, timeouts).(*store.ZSet)
	if list == nil && zset == nil {
		return nil
	}
	var entries [2]*Entries
	for i, key := range []string{queue, timeouts} {
		if k, ok := v.state.ScriptKey(db, key); ok {
			entries[i] = k.Entries
		}
	}
	seen := map[string]bool{}
	add := func(owner string) bool {
		if seen[owner] {
			return true
		}
		w := Waiter{Owner: strings.Clone(owner)}
		seen[w.Owner] = true
		for _, known := range entries {
			if known == nil || w.Since != 0 {
				continue
			}
			if entry, ok := known.Get([]byte(owner)); ok {
				w.Since, w.By = entry.Since, entry.By
			}
		}
		waiters = append(waiters, w)
		return true
	}
	if list != nil {
		list.Each(func(elem []byte) bool { return add(string(elem)) })
	}
	if zset != nil {
		zset.Each(func(item store.ZItem) bool { return add(item.Member) })
	}
	return waiters
}

// valueAt returns a key's value, nil when the key is missing.
func (v View) valueAt(db int, key string) store.Value {
	if e := v.state.Space().DB(db).Peek([]byte(key)); e != nil {
		return e.Value()
	}
	return nil
}
