package engine

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/journal"
	"github.com/lockredis/lockredis/resp"
)

// migrating sends the keys of MIGRATE to another server. The client is parked meanwhile,
// and a goroutine waits for the network outside the engine's lock.
type migrating struct{ e *Engine }

// Begin has c's client wait while m is sent.
func (r migrating) Begin(c *command.Ctx, m *command.Migration) {
	p := &command.Parked{Session: c.Session, Cmd: c.Cmd, DB: c.DB.ID()}
	c.Parking.Park(p)
	r.e.done.Add(1)
	go r.run(p, m)
}

// run sends m and ends its wait. The keys are deleted even if the client has left: the
// other server has them.
func (r migrating) run(p *command.Parked, m *command.Migration) {
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
		if p.Session.Parked == p {
			e.parking.end(p, reply)
		}
		e.journal.Unit(journal.UnitEnds)
		e.parking.serveReady()
	})
}
