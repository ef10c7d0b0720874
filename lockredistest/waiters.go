package lockredistest

import (
	"time"

	"github.com/lockredis/lockredis/internal/inspect"
)

// Waiter is an owner that waits for a lock, or a client that is subscribed to the release.
type Waiter struct {
	// Owner is as in Holder. It is "" for a client that is subscribed and whose script named no owner: one that
	// waits for a semaphore, a permit or a latch.
	Owner string
	// Kind is Plain, Fair, Fenced or Multi, "read-write" for both locks of a read-write lock, or
	// "permit-semaphore", "semaphore" or "count-down-latch". A spin lock looks like a Plain one.
	Kind Kind
	// Mode is Read or Write for an owner that waits for a read-write lock, "" for others.
	Mode Kind
	// Since is when the owner was refused first, or the subscription began. It is zero if that is unknown.
	Since time.Time
	// Asks is how often the owner was refused in a row, 0 if that is unknown.
	Asks int
	// Waits is false for an owner that is about to ask again, before it sleeps.
	Waits bool
	// Client is the client that asked last, or the subscriber, in the form of Lock.Client. It is "" if the client
	// is unknown.
	Client string
}

// Waiters returns the owners that asked for a lock of the database, were refused and still wait, and the
// subscribers of which no owner is known. First come the owners in a fair lock's queue, the next one first.
//
// An owner that has given up stays while its client is subscribed to the release for others, unless it was in a fair
// lock's queue: rlock and Redisson do not tell the server. LOCK.WAITERS with PROBE finds the owners that still wait.
func (k *Keyspace) Waiters(name string) (waiters []Waiter) {
	db := int(k.number.Load())
	door(k.server).Inspector.Enter(func(v inspect.View) {
		for _, a := range v.Waiting(db, name) {
			w := Waiter{
				Owner: a.Owner, Kind: Kind(a.Kind), Mode: Kind(a.Mode),
				Asks: int(a.Asks), Waits: a.Waits, Client: a.By.String(),
			}
			if a.Since > 0 {
				w.Since = time.UnixMilli(a.Since)
			}
			waiters = append(waiters, w)
		}
	})
	return waiters
}
