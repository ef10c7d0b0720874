package inspect

import (
	"cmp"
	"slices"
	"time"

	"github.com/lockredis/lockredis/internal/lockkeys"
	"github.com/lockredis/lockredis/store"
)

// Step turns clock forward to the next deadline, ends what is due then, and reports true.
// If nothing ends before end, or at it, Step turns clock to end and reports false.
//
// A client that waits for a lock sleeps until a message announces the release, or until
// its own timer says that the lease is over. Step does not move that timer. So for each
// lock whose lease ended, Step publishes the message that the holder's release would have
// published. A Redis server publishes nothing when a lease ends.
//
// wall is the present time of the clients. They stamp their places in a fair lock's queue
// with it.
func (v View) Step(clock Clock, end, wall time.Time) (more bool) {
	at, ok := v.state.NextDeadline()
	if !ok || at > end.UnixMilli() {
		clock.Set(end)
		return false
	}
	ending := v.endingBy(at)
	clock.Set(time.UnixMilli(at))
	v.state.EndDue()
	for i := range ending {
		v.announce(&ending[i], wall)
	}
	return true
}

// endingBy returns the locks whose lease ends at a time in Unix ms or before, the earliest
// first.
func (v View) endingBy(at int64) []Lock {
	locks := slices.DeleteFunc(v.held(), func(l Lock) bool {
		return l.Deadline == 0 || l.Deadline > at
	})
	slices.SortFunc(locks, func(a, b Lock) int {
		return cmp.Or(cmp.Compare(a.Deadline, b.Deadline), a.id().compare(b.id()))
	})
	return locks
}

// announce publishes the message with which the holder would have released l, unless the
// key exists again.
func (v View) announce(l *Lock, wall time.Time) {
	if v.valueAt(l.DB, l.Name) != nil {
		return
	}
	channel, message := lockkeys.Channel(l.Name), "0"
	switch l.Kind {
	case Read:
		channel = lockkeys.RWChannel(l.Name)
	case Write: // all waiting readers may go on
		channel, message = lockkeys.RWChannel(l.Name), "1"
	case Fair:
		if next := v.nextInQueue(l, wall); next != "" {
			channel = lockkeys.FairChannel(l.Name, next)
		} // with an empty queue, others may wait for the name as for a plain lock
	}
	v.state.Publish(channel, message)
}

// nextInQueue returns the first owner in a fair lock's queue whose timeout is not over, ""
// when there is none. The timeouts are in the clients' time.
func (v View) nextInQueue(l *Lock, wall time.Time) string {
	timeouts, _ := v.valueAt(l.DB, lockkeys.FairTimeouts(l.Name)).(*store.ZSet)
	now := float64(wall.UnixMilli())
	for _, owner := range l.Queue {
		if timeouts == nil {
			return owner
		}
		if until, ok := timeouts.Score([]byte(owner)); !ok || until > now {
			return owner
		}
	}
	return ""
}
