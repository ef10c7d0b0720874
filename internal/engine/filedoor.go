package engine

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/journal"
	"github.com/lockredis/lockredis/internal/persist"
	"github.com/lockredis/lockredis/resp"
)

// Files returns the files that keep the databases.
func (e *Engine) Files() *persist.Files { return e.files }

// door is what rooms in packages of their own have in common. A door for each of them adds what it
// needs besides.
type door struct{ *Engine }

// Ending reports whether Interrupt or Close was called. Interrupt may have ended a script halfway.
func (d door) Ending() bool { return d.interrupted.Load() || d.closed.Load() }

// Attend says that a room begins or ends to look at commands or to refuse some, or that its next
// deadline may be nearer.
func (d door) Attend() {
	d.attend()
	d.timer.look()
}

// fileDoor is the engine as persist.Files sees it: persist.Engine.
type fileDoor struct {
	door
	session *command.Session // of the lines of a log; nil before the first
	loaded  func()           // ends the reason of the changes that a file makes
}

// Reading says whether a file is read.
func (d *fileDoor) Reading(on bool) {
	d.reading = on
	d.midway = on || d.script.running
	d.attend()
	if on {
		d.loaded = d.journal.Because(journal.ByLoad)
	} else {
		d.loaded()
	}
}

// SafePoint runs the units of the queued callers, at the present time. The time of the unit that
// reads the file stands still.
func (d *fileDoor) SafePoint() {
	e := d.Engine
	e.callers.helpOthers()
	if g := &e.callers; g.running.Shared {
		g.startReplacement(g.running)
	}
	micros := e.env.Micros
	e.readClock()
	e.callers.runQueuedAtSafePoint(e.interrupted.Load)
	e.env.Micros = micros
	e.env.Space.SetNow(micros / 1000)
}

// Replay runs a line of a log as a unit. As in Redis the reply does not count.
func (d *fileDoor) Replay(db int, line resp.Args) (ok bool) {
	e := d.Engine
	if d.session == nil {
		d.session = &command.Session{Addr: "log", Proto: 2, Conn: noConn{}}
		d.session.Authenticated.Store(true)
	}
	d.session.DB = db
	c := command.Ctx{
		Env: &e.env, Session: d.session, Cmd: e.env.Table.Find(line), DB: e.env.Space.DB(db), Proto: 2,
		From: command.FromKit,
	}
	if c.Cmd == nil {
		return false
	}
	e.unit.direct(&c, line)
	return true
}

// refusesMidway reports whether a command may not run at a safe point of a load or of a script.
func (e *Engine) refusesMidway(c *command.Ctx) (refusal resp.Reply, is bool) {
	switch cmd := c.Cmd; {
	case e.reading && !loadable(c):
		refusal, _ = e.files.Loading()
		return refusal, true
	case e.script.running && !cmd.Has(command.AllowBusy):
		return e.script.refusal(), true
	}
	return refusal, false
}

// loadable reports whether the command may run while there is only a part of the data.
func loadable(c *command.Ctx) bool {
	return c.Cmd.Has(command.Loading) && (!c.Cmd.Has(command.RunsQueue) || c.Session.Multi.Loads())
}

// quiet is the store's observer while an RDB file is read: a key of the file is no event, and no
// client watches it or waits for it.
type quiet struct{ effects }

func (q *quiet) Added(int, string)   {}
func (q *quiet) Renewed(int, string) {}
func (q *quiet) Lost(int, string)    {}

// Loaded says that a key was read: another one, if there was one.
func (q *quiet) Loaded(db int, key string) {
	q.e.journal.KeyBecause(journal.ByLoad, journal.KeyLoaded, db, key)
	q.e.record.Forget(db, key)
}
