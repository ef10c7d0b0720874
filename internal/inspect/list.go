package inspect

import (
	"maps"
	"slices"

	"github.com/lockredis/lockredis/internal/lockkeys"
)

// List returns what Locks returns, and besides: the permit semaphores whose permits are
// acquired, and all that clients wait for. A client waits if it is subscribed to the release.
//
// A subscription has no database. It belongs to the lock of that name in the client's
// database, or else to the locks of that name in other databases.
func (v View) List() []Lock {
	return v.withListeners(append(v.Locks(), v.semaphores(v.Permits())...))
}

// Named returns the rows of List with that database and name. It looks at this one lock, and at all
// subscriptions.
func (v View) Named(db int, name string) []Lock {
	var locks []Lock
	for n := range v.state.Space().Opened() { // another database's lock may be the listeners'
		locks = append(locks, v.At(n, name)...)
	}
	return slices.DeleteFunc(v.withListeners(locks), func(l Lock) bool {
		return l.DB != db || l.Name != name
	})
}

// At returns the lock and the permit semaphore of that name, as they are held or queued for. There is
// none if no owner holds it or is in its queue. It looks at no subscription, so it does not know
// Listeners.
func (v View) At(db int, name string) []Lock {
	locks := v.heldAt(db, name)
	if len(locks) == 0 || locks[0].Kind == Set {
		if queue := v.queue(db, name); len(queue) > 0 {
			locks = append(locks, Lock{DB: db, Name: name, Kind: Fair, Queue: queue})
		}
	}
	if k, ok := v.state.ScriptKey(db, lockkeys.PermitTimeouts(name)); ok && k.Hints.Semaphore == name {
		permits := v.permitsAt(k, v.state.Space().Now())
		sortPermits(permits)
		locks = append(locks, v.semaphores(permits)...)
	}
	return locks
}

// heldAt returns the lock that has that key and a holder. There is at most one.
func (v View) heldAt(db int, key string) []Lock {
	if k, ok := v.state.ScriptKey(db, key); ok {
		if l, ok := v.lockAt(k); ok {
			return []Lock{l}
		}
	}
	if n, ok := v.state.NewString(db, key); ok {
		if l, ok := v.setAt(n); ok {
			return []Lock{l}
		}
	}
	return nil
}

// withListeners adds to locks the clients that wait for them, and all else that clients wait for. The
// result is sorted.
func (v View) withListeners(locks []Lock) []Lock {
	ears := v.listeners()
	if len(ears) > 0 {
		for i := range locks {
			ears.join(&locks[i])
		}
		for i := range locks {
			ears.tell(&locks[i])
		}
		locks = append(locks, v.waitedFor(ears)...)
	}
	sortLocks(locks)
	return locks
}

// listeners are the clients that are subscribed to a release, by channel.
type listeners map[string]*audience

// audience is the clients that are subscribed to one channel, the oldest client first.
type audience struct {
	clients []listener
	dbs     map[int]bool // the databases that have a lock with this channel; nil: none
}

// listener is a client that is subscribed to a release.
type listener struct {
	Waiter
	db int
}

func (v View) listeners() listeners {
	found := listeners{}
	v.state.Clients(func(c Client) {
		for _, topics := range [][]Topic{c.Channels, c.ShardChannels} {
			for _, topic := range topics {
				if !lockkeys.IsChannel(topic.Name) {
					continue
				}
				a := found[topic.Name]
				if a == nil {
					a = &audience{}
					found[topic.Name] = a
				}
				a.clients = append(a.clients, listener{Waiter{Since: topic.Since, By: c.Origin}, c.DB})
			}
		}
	})
	return found
}

// channels calls do for each channel on which l's release is announced. waiter is the owner in
// the queue whose channel it is, nil for the channel of all.
func (l *Lock) channels(do func(channel string, waiter *Waiter)) {
	switch l.Kind {
	case Read, Write:
		do(lockkeys.RWChannel(l.Name), nil)
	case PermitSemaphore:
		do(lockkeys.SemaphoreChannel(l.Name), nil)
	case Set: // has no channel
	default:
		do(lockkeys.Channel(l.Name), nil)
		for i := range l.Queue {
			do(lockkeys.FairChannel(l.Name, l.Queue[i].Owner), &l.Queue[i])
		}
	}
}

// join tells the channels of l in which database l is.
func (ears listeners) join(l *Lock) {
	l.channels(func(channel string, _ *Waiter) {
		if a := ears[channel]; a != nil {
			if a.dbs == nil {
				a.dbs = map[int]bool{}
			}
			a.dbs[l.DB] = true
		}
	})
}

// tell adds to l the clients that wait for it. The client that listens for one owner in the
// queue completes what is known of that owner.
func (ears listeners) tell(l *Lock) {
	l.channels(func(channel string, waiter *Waiter) {
		a := ears[channel]
		if a == nil {
			return
		}
		for _, client := range a.clients {
			switch {
			case client.db != l.DB && a.dbs[client.db]: // waits for another database's lock
			case waiter == nil:
				l.Listeners = append(l.Listeners, client.Waiter)
			default:
				if waiter.Since == 0 {
					waiter.Since = client.Since
				}
				if waiter.By.ID == 0 {
					waiter.By = client.By
				}
			}
		}
	})
}

// waitedFor returns what clients wait for and no owner has. ears know the locks that owners
// have.
func (v View) waitedFor(ears listeners) (locks []Lock) {
	type row struct {
		lockID
		kind Kind
	}
	at := map[row]int{} // positions in locks
	for _, channel := range slices.Sorted(maps.Keys(ears)) {
		a := ears[channel]
		if a.dbs != nil {
			continue
		}
		name, owner, kind := v.announces(channel)
		for _, client := range a.clients {
			r := row{lockID{client.db, name}, kind}
			i, ok := at[r]
			if !ok {
				i = len(locks)
				at[r] = i
				locks = append(locks, Lock{
					DB: client.db, Name: name, Kind: kind, Deadline: v.deadlineAt(client.db, name),
				})
			}
			client.Owner = owner
			locks[i].Listeners = append(locks[i].Listeners, client.Waiter)
		}
	}
	return locks
}

// announces returns what a channel announces the release of. owner is "", or the owner in a fair
// lock's queue whose channel it is.
func (v View) announces(channel string) (name, owner string, kind Kind) {
	if name, ok := lockkeys.RWChannelName(channel); ok {
		return name, "", ReadWrite
	}
	if name, ok := lockkeys.SemaphoreName(channel); ok {
		return name, "", Semaphore
	}
	if name, ok := lockkeys.CountDownName(channel); ok {
		return name, "", CountDownLatch
	}
	known := func(id string) bool { return v.known[id] }
	name, owner, _ = lockkeys.ChannelName(channel, func(s string) bool {
		return isOwner(s) || isOwnerOf(s, known)
	})
	if owner != "" {
		return name, owner, Fair
	}
	return name, "", Plain
}

// semaphores returns the permit semaphores of sorted permits. The permits are their holders.
func (v View) semaphores(permits []Permit) (locks []Lock) {
	for _, p := range permits {
		last := len(locks) - 1
		if last < 0 || locks[last].id() != (lockID{p.DB, p.Name}) {
			locks = append(locks, Lock{
				DB: p.DB, Name: p.Name, Kind: PermitSemaphore, Deadline: v.deadlineAt(p.DB, p.Name),
			})
			last++
		}
		locks[last].Holders = append(locks[last].Holders, Holder{
			Owner: p.ID, Count: 1, Deadline: p.Deadline, Since: p.Since, By: p.By,
		})
	}
	return locks
}

// deadlineAt returns a key's deadline in Unix ms, 0 when there is none.
func (v View) deadlineAt(db int, key string) int64 {
	keys := v.state.Space().DB(db)
	if e := keys.Peek([]byte(key)); e != nil {
		return keys.Deadline(e)
	}
	return 0
}
