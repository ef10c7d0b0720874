package memory

import (
	"sync"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
)

// Purges collects garbage for MEMORY PURGE, which takes about a second with millions of keys.
// The client is parked meanwhile, and a goroutine does the work outside the engine's lock.
// Clients that come during a purge share the next one.
type Purges struct {
	engine     Engine
	env        *command.Env
	goroutines *sync.WaitGroup

	running bool
	wanted  bool // another purge follows
	waiting []*command.Parked
}

// NewPurges returns the purges of an engine. goroutines counts the goroutine of a purge: the engine
// waits for it when it closes.
func NewPurges(engine Engine, env *command.Env, goroutines *sync.WaitGroup) *Purges {
	return &Purges{engine: engine, env: env, goroutines: goroutines}
}

// Begin has c's client wait for a purge.
func (r *Purges) Begin(c *command.Ctx) {
	p := &command.Parked{Session: c.Session, Cmd: c.Cmd, DB: c.DB.ID()}
	c.Parking.Park(p)
	r.waiting = append(r.waiting, p)
	r.Schedule()
}

// Schedule has a purge begin, now or after the present one.
func (r *Purges) Schedule() {
	if r.running {
		r.wanted = true
		return
	}
	r.running, r.wanted = true, false
	waiting := r.waiting
	r.waiting = nil
	r.goroutines.Go(func() { r.run(waiting) })
}

// Running reports whether a purge is running.
func (r *Purges) Running() bool { return r.running }

// run purges and ends the wait of the clients.
func (r *Purges) run(waiting []*command.Parked) {
	r.env.Server.Purge()
	r.engine.Outside(func() {
		for _, p := range waiting {
			if p.Session.Parked == p {
				r.engine.Serve(p, resp.OK)
			}
		}
		r.running = false
		if r.wanted && !r.engine.Ending() {
			r.Schedule()
		}
	})
}
