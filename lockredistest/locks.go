package lockredistest

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/lockredis/lockredis/internal/engine"
	"github.com/lockredis/lockredis/store"
)

// Kind is a kind of lock.
type Kind string

// The kinds that the server can tell apart. Spin locks and the parts of a
// multi-lock look like plain locks.
const (
	Plain  Kind = "lock"
	Fair   Kind = "fair"
	Fenced Kind = "fenced"
	Read   Kind = "read"  // a read-write lock that is held for reading
	Write  Kind = "write" // a read-write lock that is held for writing
)

// Lock is a lock as the server sees it.
type Lock struct {
	DB   int
	Name string
	Kind Kind
	// Holders own the lock. There are several of a read lock, and none of a
	// fair lock that was let go while owners stood in its queue.
	Holders []Holder
	// TTL is how long the lease lasts, 0 if it never ends.
	TTL time.Duration
	// Queue are the owners that stand in a fair lock's queue, the next one
	// first.
	Queue []string
	// Client is whose script wrote the lock last: its address, and the name
	// that CLIENT SETNAME gave it. It is "" when there are no Holders.
	Client string
}

// deadline returns when the lease is over, in Unix ms; 0 for never. The lock
// was seen at now.
func (l *Lock) deadline(now int64) int64 {
	if l.TTL == 0 {
		return 0
	}
	return now + l.TTL.Milliseconds()
}

// Holder is an owner of a lock.
type Holder struct {
	// Owner is the client's id and the thread's, "<uuid>:<n>": Redisson's lock
	// name.
	Owner string
	// Mode is Read or Write for a read-write lock, "" for others.
	Mode Kind
	// Count is how often the owner has locked it.
	Count int
}

// The keys that stand beside a lock's hash.
const (
	queuePrefix   = "redisson_lock_queue"
	timeoutPrefix = "redisson_lock_timeout"
	tokenPrefix   = "redisson_lock_token"
)

// siblingKey returns the name of a key that belongs to a lock: the braces keep both
// in one slot of a cluster, and a name that has some brings its own.
func siblingKey(prefix, name string) string {
	if strings.Contains(name, "{") {
		return prefix + ":" + name
	}
	return prefix + ":{" + name + "}"
}

// lockOfSibling returns the lock's name of a key that siblingKey made.
func lockOfSibling(prefix, key string) (name string, ok bool) {
	name, ok = strings.CutPrefix(key, prefix+":")
	if inner, braced := strings.CutPrefix(name, "{"); braced && strings.IndexByte(inner, '}') == len(inner)-1 {
		name = inner[:len(inner)-1]
	}
	return name, ok
}

// Locks returns the locks that are held or queued for, in all databases, by
// database and name.
func (s *Server) Locks() []Lock {
	var locks []Lock
	s.engine.Outside(func() { locks = s.findLocks() })
	return locks
}

// findLocks is Locks, inside the engine.
func (s *Server) findLocks() []Lock {
	locks := s.heldLocks()
	seen := map[string]bool{}
	for i := range locks {
		seen[fmt.Sprint(locks[i].DB, locks[i].Name)] = true
	}
	space := s.engine.Env().Space
	for n := range space.Len() {
		space.DB(n).Each(func(e *store.Entry) bool {
			name, ok := lockOfSibling(queuePrefix, e.Key())
			if !ok {
				name, ok = lockOfSibling(timeoutPrefix, e.Key())
			}
			if id := fmt.Sprint(n, name); ok && !seen[id] {
				seen[id] = true
				if queue := s.queue(n, name); len(queue) > 0 {
					locks = append(locks, Lock{DB: n, Name: strings.Clone(name), Kind: Fair, Queue: queue})
				}
			}
			return true
		})
	}
	sort.Slice(locks, func(i, j int) bool {
		a, b := locks[i], locks[j]
		return a.DB < b.DB || a.DB == b.DB && a.Name < b.Name
	})
	return locks
}

// heldLocks returns the locks that have holders, in no order. It is called
// inside the engine.
func (s *Server) heldLocks() (locks []Lock) {
	s.engine.ScriptKeys(func(k engine.ScriptKey) {
		if l, ok := s.lockAt(k); ok {
			locks = append(locks, l)
		}
	})
	return locks
}

// lockAt reads the lock under a key; ok is false when there is none.
func (s *Server) lockAt(k engine.ScriptKey) (l Lock, ok bool) {
	space := s.engine.Env().Space
	e := space.DB(k.DB).Peek([]byte(k.Key))
	if e == nil {
		return l, false
	}
	hash, ok := e.Value().(*store.Hash)
	if !ok {
		return l, false
	}
	l = Lock{DB: k.DB, Name: k.Key, Kind: Plain, Client: clientName(k.By.Addr, k.By.Name)}
	if mode, has := hash.Get([]byte("mode")); has {
		l.Kind = Kind(mode)
	}
	if !l.readHolders(hash) {
		return l, false
	}
	if e.HasDeadline() {
		l.TTL = time.Duration(e.Deadline()-space.Now()) * time.Millisecond
	}
	l.Queue = s.queue(k.DB, k.Key)
	switch {
	case l.Kind != Plain:
	case len(l.Queue) > 0 || slices.Contains(k.Named, siblingKey(queuePrefix, k.Key)):
		l.Kind = Fair
	case slices.Contains(k.Named, siblingKey(tokenPrefix, k.Key)):
		l.Kind = Fenced
	}
	return l, true
}

// readHolders takes the fields of a hash for owners and reports whether all of
// them are.
func (l *Lock) readHolders(hash *store.Hash) bool {
	readWrite := l.Kind == Read || l.Kind == Write
	valid := readWrite || l.Kind == Plain
	hash.Each(func(field, value []byte) bool {
		if l.Kind != Plain && string(field) == "mode" {
			return true
		}
		h := Holder{Owner: string(field)}
		if owner, write := strings.CutSuffix(h.Owner, ":write"); readWrite {
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
	sort.Slice(l.Holders, func(i, j int) bool { return l.Holders[i].Owner < l.Holders[j].Owner })
	return valid && len(l.Holders) > 0
}

// isOwner reports whether s is a client's UUID and a thread's number. The locks
// of a Redisson transaction have its id behind.
func isOwner(s string) bool {
	parts := strings.Split(s, ":")
	if len(parts) != 2 && len(parts) != 3 || !isUUID(parts[0]) || len(parts) == 3 && !isUUID(parts[2]) {
		return false
	}
	_, err := strconv.ParseInt(parts[1], 10, 64)
	return err == nil
}

func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i, c := range []byte(s) {
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if c != '-' {
				return false
			}
		} else if !strings.ContainsRune("0123456789abcdefABCDEF", rune(c)) {
			return false
		}
	}
	return true
}

// queue returns who stands in a fair lock's queue: the list, and who has a
// time-out without a place in it.
func (s *Server) queue(db int, name string) (owners []string) {
	seen := map[string]bool{}
	add := func(owner string) {
		if !seen[owner] {
			seen[owner] = true
			owners = append(owners, strings.Clone(owner))
		}
	}
	if list, ok := s.valueAt(db, siblingKey(queuePrefix, name)).(*store.List); ok {
		list.Each(func(elem []byte) bool {
			add(string(elem))
			return true
		})
	}
	if timeouts, ok := s.valueAt(db, siblingKey(timeoutPrefix, name)).(*store.ZSet); ok {
		timeouts.Each(func(item store.ZItem) bool {
			add(item.Member)
			return true
		})
	}
	return owners
}

// valueAt returns a key's value, nil when it is missing. It is called inside
// the engine.
func (s *Server) valueAt(db int, key string) store.Value {
	if e := s.engine.Env().Space.DB(db).Peek([]byte(key)); e != nil {
		return e.Value()
	}
	return nil
}

func clientName(addr, name string) string {
	if name == "" {
		return addr
	}
	return addr + " (" + name + ")"
}
