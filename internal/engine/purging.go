package engine

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
)

// purging collects garbage for MEMORY PURGE, which takes about a second with millions of keys.
// The client is parked meanwhile, and a goroutine does the work outside the engine's lock.
// Clients that come during a purge share the next one.
type purging struct {
	e       *Engine
	running bool
	wanted  bool // another purge follows
	waiting []*command.Parked
}

// Begin has c's client wait for a purge.
func (r *purging) Begin(c *command.Ctx) {
	p := &command.Parked{Session: c.Session, Cmd: c.Cmd, DB: c.DB.ID()}
	c.Parking.Park(p)
	r.waiting = append(r.waiting, p)
	r.Schedule()
}

// Schedule has a purge begin, now or after the present one.
func (r *purging) Schedule() {
	if r.running {
		r.wanted = true
		return
	}
	r.running, r.wanted = true, false
	waiting := r.waiting
	r.waiting = nil
	r.e.done.Add(1)
	go r.run(waiting)
}

// Purging reports whether a purge is running. It is called inside the engine.
func (e *Engine) Purging() bool { return e.purging.running }

// run purges and ends the wait of the clients.
func (r *purging) run(waiting []*command.Parked) {
	e := r.e
	defer e.done.Done()
	e.env.Server.Purge()
	e.Do(&Caller{background: true}, func() {
		e.readClock()
		for _, p := range waiting {
			if p.Session.Parked == p {
				e.accountServed(p, 0)
				e.parking.end(p, resp.OK)
			}
		}
		r.running = false
		if r.wanted && !e.closed.Load() {
			r.Schedule()
		}
		e.serveReady()
	})
}
