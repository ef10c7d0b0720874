package inspect

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockredis/lockredis/internal/lockkeys"
	"github.com/lockredis/lockredis/store"
)

// Step turns the clock forward to the next deadline, ends what is due then, and reports true.
// If nothing ends before end, or at it, Step turns the clock to end and reports false.
//
// It publishes what Turn publishes. wall is Turn's.
//
// ended are the leases that the step ended. Their owners still trust them: their clocks did
// not move.
func (v View) Step(end, wall time.Time) (ended []Lease, more bool) {
	leases := v.leases()
	turned := v.Turn(end, true, wall)
	return endedBy(leases, v.state.Space().Now()), turned.More
}

// Turned is what a turn of the clock did.
type Turned struct {
	Ended []string // the names of the locks whose lease has ended, the earliest first
	Woken int      // how many clients got an unlock message
	More  bool     // the clock is not at the end of the turn yet
}

// Turn turns the clock forward to the next deadline, or to end if no deadline comes before. It ends
// what is due then.
//
// A client that waits for a lock sleeps until a message announces the release, or until
// its own timer says that the lease is over. Turn does not move that timer. So for each
// lock whose lease ended, Turn publishes the message that the holder's release would have
// published, if wake is true. A Redis server publishes nothing when a lease ends.
//
// wall is the present time of the clients. They stamp their positions in a fair lock's queue
// with it.
func (v View) Turn(end time.Time, wake bool, wall time.Time) (t Turned) {
	if at, ok := v.state.NextDeadline(); ok && at <= end.UnixMilli() {
		end, t.More = time.UnixMilli(at), true
	}
	ending := v.endingBy(end.UnixMilli())
	v.state.TurnTo(end)
	for i := range ending {
		l := &ending[i]
		if held, _ := v.state.Space().DB(l.DB).Value(l.Name); held != nil {
			continue // CLIENT PAUSE keeps it, or it is a new one
		}
		t.Ended = append(t.Ended, l.Name)
		if wake {
			t.Woken += v.Announce(l, wall)
		}
	}
	return t
}

// Add adds what a later part of the turn did.
func (t *Turned) Add(later Turned) {
	t.Ended = append(t.Ended, later.Ended...)
	t.Woken += later.Woken
}

// Lapse returns the permit semaphores with a permit whose lease has ended since from, in Unix ms. They
// are in Ended. Lapse wakes their waiters if wake is true. wall is Turn's. Turn does not find them,
// because no key ends with a permit.
func (v View) Lapse(from int64, wake bool, wall time.Time) (t Turned) {
	semaphores := v.LapsedSince(from)
	for i := range semaphores {
		t.Ended = append(t.Ended, semaphores[i].Name)
		if wake {
			t.Woken += v.Announce(&semaphores[i], wall)
		}
	}
	return t
}

// Lease is an owner's right to a lock or a permit until a time.
type Lease struct {
	DB    int
	Name  string // of the lock or the permit semaphore
	Owner string // "<id>:<thread>", or a permit's id
	Until int64  // Unix ms
}

// leases returns the leases that have an end.
func (v View) leases() (leases []Lease) {
	for _, l := range v.held() {
		for _, h := range l.Holders {
			if h.Deadline > v.state.Space().Now() {
				leases = append(leases, Lease{l.DB, l.Name, h.Owner, h.Deadline})
			}
		}
	}
	for _, p := range v.Permits() {
		if p.Deadline > 0 {
			leases = append(leases, Lease{p.DB, p.Name, p.ID, p.Deadline})
		}
	}
	return leases
}

// setLeases sets the deadlines of the holders of a lock that has a deadline. The lease of a
// reader is the end of its longest hold, if the client keeps the holds in keys of their own. A
// reader without any hold, beside readers that have holds, has lost its lease before: its
// deadline is past.
func (v View) setLeases(l *Lock) {
	holds := make([]int64, len(l.Holders))
	kept := false
	for i, h := range l.Holders {
		if h.Mode == Read {
			holds[i] = v.longestHold(l, h)
			kept = kept || holds[i] > 0
		}
	}
	for i := range l.Holders {
		h := &l.Holders[i]
		if l.Kind == Multi { // has its own
			continue
		}
		h.Deadline = l.Deadline
		if kept && h.Mode == Read {
			h.Deadline = max(1, min(l.Deadline, holds[i]))
		}
	}
}

// longestHold returns when the last hold of a reader ends, in Unix ms, 0 when there is none.
func (v View) longestHold(l *Lock, h Holder) (until int64) {
	for i := range h.Count {
		key := lockkeys.ReadHolds(l.Name, h.Owner) + ":" + strconv.Itoa(i+1)
		until = max(until, v.deadlineAt(l.DB, key))
	}
	return until
}

// endedBy returns the leases that end at a time in Unix ms or before, the earliest first.
func endedBy(leases []Lease, at int64) []Lease {
	ended := slices.DeleteFunc(leases, func(l Lease) bool { return l.Until > at })
	slices.SortFunc(ended, func(a, b Lease) int {
		return cmp.Or(cmp.Compare(a.Until, b.Until), cmp.Compare(a.DB, b.DB),
			cmp.Compare(a.Name, b.Name), cmp.Compare(a.Owner, b.Owner))
	})
	return ended
}

// endingBy returns the locks whose lease ends at a time in Unix ms or before, the earliest
// first.
func (v View) endingBy(at int64) (locks []Lock) {
	var due []Key // reading a lock may expire keys, so the loop over the keys does not
	v.state.Space().EachDue(at, func(db int, key string, _ int64) {
		due = append(due, Key{db, strings.Clone(key)})
	})
	for _, k := range due {
		locks = append(locks, v.heldAt(k.DB, k.Name)...)
	}
	slices.SortFunc(locks, func(a, b Lock) int {
		return cmp.Or(cmp.Compare(a.Deadline, b.Deadline), a.id().compare(b.id()))
	})
	return locks
}

// Announce publishes the message with which the holders would have released l, and returns how
// many clients got it. wall is the present time of the clients, see Turn.
func (v View) Announce(l *Lock, wall time.Time) (clients int) {
	channel, message := lockkeys.Channel(l.Name), "0"
	switch l.Kind {
	case Set: // has no channel
		return 0
	case Read:
		channel = lockkeys.RWChannel(l.Name)
	case Write: // all waiting readers may acquire it
		channel = lockkeys.RWChannel(l.Name)
		clients = v.state.Publish(channel, "1")
		// On "1", Redisson wakes the threads that sleep. A thread that was refused a moment ago, and
		// does not sleep yet, needs "0", which is for one thread of each Redisson.
		for range v.sleepers(l.DB, l.Name) {
			v.state.Publish(channel, "0")
		}
		return clients
	case Fair:
		if next := v.nextInQueue(l, wall); next != "" {
			channel = lockkeys.FairChannel(l.Name, next)
		} // with an empty queue, others may wait for the name as for a plain lock
	case PermitSemaphore:
		channel, message = lockkeys.SemaphoreChannel(l.Name), strconv.FormatInt(v.freePermits(l.DB, l.Name), 10)
	}
	return v.state.Publish(channel, message)
}

// nextInQueue returns the first owner in a fair lock's queue whose timeout is not over, ""
// when there is none. The timeouts are in the clients' time.
func (v View) nextInQueue(l *Lock, wall time.Time) string {
	timeouts, _ := v.valueAt(l.DB, lockkeys.FairTimeouts(l.Name)).(*store.ZSet)
	now := float64(wall.UnixMilli())
	for _, w := range l.Queue {
		if timeouts == nil {
			return w.Owner
		}
		if until, ok := timeouts.Score([]byte(w.Owner)); !ok || until > now {
			return w.Owner
		}
	}
	return ""
}
