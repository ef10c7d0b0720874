package inspect

import (
	"cmp"
	"maps"
	"slices"

	"github.com/lockredis/lockredis/internal/lockkeys"
)

// LeakType is what a test has left behind.
type LeakType string

// The types of leaks.
const (
	LockLeak         LeakType = "lock"         // a holder of a lock
	PermitLeak       LeakType = "permit"       // an acquired permit
	WaiterLeak       LeakType = "waiter"       // an owner in a queue, a client in a blocking command
	SubscriptionLeak LeakType = "subscription" // a client's subscription
)

// Leak is one thing that a test would leave behind if it ended now.
type Leak struct {
	Type LeakType
	// Name is the lock's or the semaphore's, the first key that a client waits for, or the
	// channel or pattern.
	Name string
	DB   int
	// Owner is the holder or the owner in the queue, or the permit's id. It is "" for a
	// client that waits or is subscribed.
	Owner string
	// WaitsFor is the name of the lock, semaphore or latch whose release the channel announces. It
	// is "" for other channels, and if it is no subscription.
	WaitsFor string
	Kind     Kind  // of a lock, of a permit, and of what WaitsFor names; "" for others
	Mode     Kind  // as in Holder
	Holds    int   // 0 unless something is held
	Since    int64 // Unix ms; 0: unknown
	Deadline int64 // the end of the lease, Unix ms; 0: none
	By       Origin
	Idle     bool // a subscription that is no leak, as only AllLeaks returns it: see Leaks

	way  string // tells leaks of the same Type, Name and Owner apart: a mode, a kind of topic
	noun string // of a lock: "lock", "fair lock"
	wait *Wait  // of a client that waits; nil: none does
	now  int64  // of the Snapshot
}

// LeakID tells leaks apart.
type LeakID struct {
	leak             LeakType
	db               int
	name, owner, way string
	client           int64 // 0 if there is an owner
}

// ID returns what stays the same from one look to the next.
func (l *Leak) ID() LeakID {
	id := LeakID{leak: l.Type, db: l.DB, name: l.Name, owner: l.Owner, way: l.way}
	if l.Owner == "" {
		id.client = l.By.ID
	}
	return id
}

// OfLock reports whether the leak concerns a lock or semaphore called Name.
func (l *Leak) OfLock() bool { return l.Owner != "" }

// MayAcquire reports whether a waiter with an idle subscription may acquire a lock or a permit soon: it
// was released a moment ago. A latch gives nothing.
func (l *Leak) MayAcquire() bool { return l.Idle && l.Kind != CountDownLatch }

// Leaks returns what a test would leave behind: the held locks, the owners in queues, the
// permits, and the waiting and listening clients, in this order.
//
// Redisson stays subscribed when the time of a tryLock, a tryAcquire or an await ends while it
// subscribes (seen with 3.52.0 and 4.7.0). So a subscription to the channel of a free lock, or of a
// semaphore with a free permit, is no leak: as a rule nothing waits there. A semaphore without a key
// does not tell a waiter from such a subscription: its channel does not count. Neither does a latch, and
// a waiter there takes nothing from other clients.
func (s *Snapshot) Leaks() []Leak {
	return slices.DeleteFunc(s.AllLeaks(), func(l Leak) bool { return l.Idle })
}

// AllLeaks returns what Leaks returns, with all subscriptions. A test that begins now compares its own
// leaks with them: a channel that is free now may be taken when the test ends.
func (s *Snapshot) AllLeaks() []Leak {
	taken := s.takenChannels()
	leaks := make([]Leak, 0, len(s.Locks)+len(s.Permits)+len(s.Clients))
	for i := range s.Locks {
		leaks = s.appendLockLeaks(leaks, &s.Locks[i])
	}
	for i := range s.Permits {
		leaks = append(leaks, s.permitLeak(&s.Permits[i]))
	}
	for i := range s.Clients {
		leaks = s.appendClientLeaks(leaks, &s.Clients[i], taken)
	}
	return leaks
}

// takenChannels returns the channels of the locks that owners hold or are queued for, and of the
// semaphores without a free permit. An owner's own channel in a queue is not among them.
func (s *Snapshot) takenChannels() map[string]bool {
	taken := map[string]bool{}
	maps.Copy(taken, s.empty)
	if len(s.Clients) == 0 {
		return taken
	}
	for i := range s.Locks {
		s.Locks[i].channels(func(channel string, waiter *Waiter) {
			if waiter == nil {
				taken[channel] = true
			}
		})
	}
	return taken
}

// isFree reports whether topic, the channel of a lock, a semaphore or a latch, is not in taken. An owner
// in a fair lock's queue has a channel of its own: the lock's, a colon and the owner.
func isFree(topic string, taken map[string]bool) bool {
	if taken[topic] {
		return false
	}
	if !lockkeys.IsLockChannel(topic) {
		return true
	}
	for i := range len(topic) {
		if topic[i] == ':' && taken[topic[:i]] {
			return false
		}
	}
	return true
}

func (s *Snapshot) appendLockLeaks(leaks []Leak, l *Lock) []Leak {
	for i := range l.Holders {
		h := &l.Holders[i]
		kind := l.Kind
		if h.Mode != "" {
			kind = h.Mode
		}
		leaks = append(leaks, Leak{
			Type: LockLeak, way: string(h.Mode), Name: l.Name, DB: l.DB, Owner: h.Owner,
			Kind: l.Kind, Mode: h.Mode, Holds: h.Count,
			Since: h.Since, Deadline: h.Deadline, By: h.By, noun: kind.noun(), now: s.Now,
		})
	}
	for _, w := range l.Queue {
		leaks = append(leaks, Leak{
			Type: WaiterLeak, Name: l.Name, DB: l.DB, Owner: w.Owner, Kind: l.Kind, Since: w.Since, By: w.By,
			noun: l.Kind.noun(), now: s.Now,
		})
	}
	return leaks
}

func (s *Snapshot) permitLeak(p *Permit) Leak {
	return Leak{
		Type: PermitLeak, Name: p.Name, DB: p.DB, Owner: p.ID, Kind: PermitSemaphore, Holds: 1,
		Since: p.Since, Deadline: p.Deadline, By: p.By, now: s.Now,
	}
}

// helloChannel is the channel that every Sentinel of a server is subscribed to. A test leaves
// no Sentinel behind: they belong to the server.
const helloChannel = "__sentinel__:hello"

func (s *Snapshot) appendClientLeaks(leaks []Leak, c *Client, taken map[string]bool) []Leak {
	if c.Wait != nil {
		l := Leak{Type: WaiterLeak, DB: c.DB, Since: c.Wait.Since, By: c.Origin, wait: c.Wait}
		if len(c.Wait.Keys) > 0 { // WAIT waits for no key
			l.Name = c.Wait.Keys[0]
		}
		leaks = append(leaks, l)
	}
	for _, topics := range []struct {
		noun string
		list []Topic
	}{{"channel", c.Channels}, {"pattern", c.Patterns}, {"shard channel", c.ShardChannels}} {
		sorted := slices.Clone(topics.list)
		slices.SortFunc(sorted, func(a, b Topic) int { return cmp.Compare(a.Name, b.Name) })
		for _, topic := range sorted {
			if topic.Name == helloChannel {
				continue
			}
			l := Leak{
				Type: SubscriptionLeak, way: topics.noun, Name: topic.Name, DB: c.DB,
				Since: topic.Since, By: c.Origin,
			}
			if topics.noun != "pattern" && lockkeys.IsChannel(topic.Name) {
				l.WaitsFor, _, l.Kind = s.announces(topic.Name)
				l.Idle = isFree(topic.Name, taken)
			}
			leaks = append(leaks, l)
		}
	}
	return leaks
}
