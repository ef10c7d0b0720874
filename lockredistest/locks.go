package lockredistest

import (
	"time"

	"github.com/lockredis/lockredis/internal/inspect"
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
	Multi  Kind = "multi" // a multi-lock over a group of values, as Redisson makes it in one hash
	Set    Kind = "set"   // a string that SET with NX created, as redislock and redsync do
)

// Lock is a lock as the server sees it.
type Lock struct {
	DB   int
	Name string
	Kind Kind
	// Holders own the lock, sorted by owner. A read lock can have several. A fair lock
	// that was released while its queue has waiters has none.
	Holders []Holder
	// TTL is how long the lease will last, 0 if it never ends.
	TTL time.Duration
	// Queue lists the owners in a fair lock's queue, the next one first.
	Queue []string
	// Client is the client whose script wrote the lock last. For a lock of Kind Set it is
	// the client that created the lock. It has the client's address, then in parentheses the
	// name that CLIENT SETNAME set. It is "" without Holders.
	Client string
}

// Holder is an owner of a lock.
type Holder struct {
	// Owner is the client's id and the thread's number, "<uuid>:<n>". Redisson calls it
	// the lock name. For a lock of Kind Set it is the holder's token.
	Owner string
	// Mode is Read or Write for a read-write lock, "" for other kinds.
	Mode Kind
	// Count is how often the owner has acquired the lock.
	Count int
}

// Locks returns the locks that are held or queued for, in all databases, sorted by
// database and name.
func (s *Server) Locks() []Lock {
	seen := door(s).Inspector.Look()
	var locks []Lock
	for i := range seen.Locks {
		locks = append(locks, newLock(&seen.Locks[i], seen.Now))
	}
	return locks
}

// Permit is an acquired permit of a permit semaphore (rlock's PermitSemaphore, Redisson's
// RPermitExpirableSemaphore).
type Permit struct {
	DB   int
	Name string // of the semaphore
	ID   string // 32 hexadecimal digits, as the acquisition returned it
	// TTL is how long the lease will last, 0 if it never ends.
	TTL time.Duration
	// Client is the client whose script wrote the semaphore last, in the form of
	// Lock.Client.
	Client string
}

// Permits returns the acquired permits of all databases, sorted by database, semaphore and id.
// A permit is left out when its lease has ended.
func (s *Server) Permits() []Permit {
	seen := door(s).Inspector.Look()
	var permits []Permit
	for i := range seen.Permits {
		permits = append(permits, newPermit(&seen.Permits[i], seen.Now))
	}
	return permits
}

// newPermit returns a permit that the inspector saw at now, in Unix ms.
func newPermit(seen *inspect.Permit, now int64) Permit {
	p := Permit{DB: seen.DB, Name: seen.Name, ID: seen.ID, Client: seen.By.String()}
	if seen.Deadline > 0 {
		p.TTL = inspect.Millis(seen.Deadline - now)
	}
	return p
}

// newLock returns a lock that the inspector saw at now, in Unix ms. The inspector's kinds have
// the same names.
func newLock(seen *inspect.Lock, now int64) Lock {
	l := Lock{
		DB: seen.DB, Name: seen.Name, Kind: Kind(seen.Kind),
		Client: seen.Writer.String(),
	}
	for _, w := range seen.Queue {
		l.Queue = append(l.Queue, w.Owner)
	}
	if seen.Deadline > 0 {
		l.TTL = inspect.Millis(seen.Deadline - now)
	}
	for _, h := range seen.Holders {
		l.Holders = append(l.Holders, Holder{Owner: h.Owner, Mode: Kind(h.Mode), Count: h.Count})
	}
	return l
}
