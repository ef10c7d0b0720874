package engine

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/journal"
	"github.com/lockredis/lockredis/resp"
)

// migrating sends the keys of MIGRATE to another server. The client is parked meanwhile,
// and a goroutine waits for the network outside the engine's lock. Commands that may change
// these keys are postponed, as by CLIENT PAUSE: a change would be lost with the key.
type migrating struct {
	e        *Engine
	underway map[migratingKey]int // how many MIGRATEs send the key
}

// migratingKey is a key that MIGRATE will delete.
type migratingKey struct {
	db   int
	name string
}

// Begin has c's client wait while m is sent.
func (r *migrating) Begin(c *command.Ctx, m *command.Migration) {
	p := &command.Parked{Session: c.Session, Cmd: c.Cmd, DB: c.DB.ID()}
	c.Parking.Park(p)
	r.hold(p.DB, m.Moved)
	r.e.done.Add(1)
	go r.run(p, m)
}

// run sends m and ends its wait. The keys are deleted even if the client has left: the
// other server has them.
func (r *migrating) run(p *command.Parked, m *command.Migration) {
	e := r.e
	defer e.done.Done()
	end, lines := e.env.Server.Send(m, e.timer.quit)
	e.Do(&Caller{background: true}, func() {
		e.readClock()
		c := command.Ctx{
			Env: &e.env, Session: p.Session, Cmd: p.Cmd, DB: e.env.Space.DB(p.DB),
			Proto: p.Session.Proto, From: command.FromWait,
		}
		e.journal.Unit(journal.UnitBegins)
		migrated := e.journal.Because(journal.ByMigrate)
		reply := e.unit.call(&c, nil, func(c *command.Ctx, _ resp.Args) resp.Reply {
			return m.Finish(c, end, lines)
		})
		migrated()
		r.free(p.DB, m.Moved)
		if p.Session.Parked == p {
			e.parking.end(p, reply)
		}
		e.journal.Unit(journal.UnitEnds)
		e.parking.serveReady()
	})
}

// hold has commands wait that may change one of the keys.
func (r *migrating) hold(db int, keys [][]byte) {
	for _, name := range keys {
		r.underway[migratingKey{db, string(name)}]++
	}
	r.e.attend()
}

// free lets the commands run that wait for the keys.
func (r *migrating) free(db int, keys [][]byte) {
	for _, name := range keys {
		key := migratingKey{db, string(name)}
		if r.underway[key]--; r.underway[key] == 0 {
			delete(r.underway, key)
		}
	}
	r.e.attend()
	if !r.e.pausing.delays(r.e.env.Space.Now()) {
		r.e.pausing.release()
	}
}

// delays reports whether a client's command may change a key that is under way.
func (r *migrating) delays(c *command.Ctx, args resp.Args) (delays bool) {
	if !replicates(lineFlags(c, args)) {
		return false
	}
	visit := func(key []byte) bool {
		delays = delays || r.underway[migratingKey{c.DB.ID(), string(key)}] > 0
		return !delays
	}
	if multi := c.Session.Multi; multi != nil && c.Cmd.Has(command.RunsQueue) {
		for i, cmd := range multi.Cmds {
			cmd.SlotKeys(multi.Queue[i], visit)
		}
		return delays
	}
	c.Cmd.SlotKeys(args, visit)
	return delays
}
