package command

import (
	"github.com/lockredis/lockredis/internal/keyevent"
	"github.com/lockredis/lockredis/store"
)

// Ctx is one running command.
type Ctx struct {
	*Env
	Session *Session
	DB      *store.DB
	Cmd     *Command
	Proto   int // RESP version the reply is for; a script chooses its own
	From    Origin
	argv    int // bytes of the arguments, for CLIENT LIST
}

// Origin is where a command comes from. It decides which checks apply.
type Origin uint8

// The origins of a command.
const (
	FromClient Origin = iota // a connection
	FromExec                 // the queue of a transaction
	FromScript               // redis.call in a script
	FromKit                  // the test kit: there is no connection
	FromWait                 // a parked command that is served
)

// Calls returns the statistics of the running command.
func (c *Ctx) Calls() *CallStats { return c.Table.Calls(c.Cmd) }

// DenyBlocking reports whether the command may not wait. A blocking command then
// answers as if its timeout had ended.
func (c *Ctx) DenyBlocking() bool { return c.From != FromClient }

// InScript reports whether a script runs the command.
func (c *Ctx) InScript() bool { return c.From == FromScript }

// mode returns the server's mode in HELLO and INFO.
func (c *Ctx) mode() string {
	if c.Cluster != nil {
		return "cluster"
	}
	return "standalone"
}

// Now returns the unit's time in Unix milliseconds.
func (c *Ctx) Now() int64 { return c.Space.Now() }

// Hide marks arguments of the running command that SLOWLOG and MONITOR do not show.
func (c *Ctx) Hide(args ...int) { c.Session.Hidden = append(c.Session.Hidden, args...) }

// Select makes c work on database i, which must exist.
func (c *Ctx) Select(i int) { c.DB = c.Space.DB(i) }

// Changed records that the value of e was changed in place. It tells the store, counts
// the change and announces the event.
func (c *Ctx) Changed(class Class, event string, e *store.Entry) {
	c.DB.Touched(e)
	c.Notify(class, event, e.Key())
}

// Notify counts a change and announces the event. It does not tell the store. So it is
// for changes that the store knows: a key was set, deleted or given a deadline.
func (c *Ctx) Notify(class Class, event string, key string) {
	c.Dirty++
	c.Events.Notify(class, event, c.DB.ID(), key)
}

// CountAs makes the change that Changed or Notify has just counted count as n changes. Redis
// counts elements: SADD of three new members is three changes for INFO's
// rdb_changes_since_last_save and for save points, an LTRIM that removes nothing is none.
func (c *Ctx) CountAs(n int64) { c.Dirty += n - 1 }

// Remove deletes e, counts the change and announces "del".
func (c *Ctx) Remove(e *store.Entry) { c.RemoveLazily(e, c.Space.Lazyfree.ServerDel) }

// RemoveLazily is Remove for a command that has its own rule of what is deleted lazily.
func (c *Ctx) RemoveLazily(e *store.Entry, lazily bool) {
	c.DB.RemoveLazily(e, lazily)
	c.Notify(Generic, "del", e.Key())
}

// RemoveDue deletes e because a command gives it a deadline that is not in the future. Valkey
// announces "expired" and counts an expired key, Redis announces "del".
func (c *Ctx) RemoveDue(e *store.Entry) {
	lazily := c.Space.Lazyfree.Expire
	if !c.Config.Valkey() {
		c.RemoveLazily(e, lazily)
		return
	}
	c.DB.RemoveLazily(e, lazily)
	c.Space.Stats.Expired++
	c.Notify(ExpiredClass, "expired", e.Key())
}

// RemoveIfEmpty deletes e and announces "del" if size, the length of its collection, is
// 0. Redis does so after the command's own event.
func (c *Ctx) RemoveIfEmpty(e *store.Entry, size int) {
	if size == 0 {
		c.DB.Remove(e)
		c.Events.Notify(Generic, "del", c.DB.ID(), e.Key())
	}
}

// Class is a set of classes of keyspace events.
type Class = keyevent.Class

// The classes that handlers and the engine use.
const (
	Keyspace     = keyevent.Keyspace
	Keyevent     = keyevent.Keyevent
	Generic      = keyevent.Generic
	StringClass  = keyevent.String
	ListClass    = keyevent.List
	SetClass     = keyevent.Set
	HashClass    = keyevent.Hash
	ZSetClass    = keyevent.ZSet
	StreamClass  = keyevent.Stream
	ExpiredClass = keyevent.Expired
	EvictedClass = keyevent.Evicted
	KeyMiss      = keyevent.Miss
	NewKey       = keyevent.New
)
