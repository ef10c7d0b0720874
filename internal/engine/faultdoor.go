package engine

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/fault"
	"github.com/lockredis/lockredis/resp"
)

// faultDoor is the engine as a fault.Injector sees it: fault.Engine.
type faultDoor struct{ *Engine }

// Forget removes what the rooms know about a session that has left.
func (d faultDoor) Forget(s *command.Session) { d.forget(s) }

// Attend has the engine ask the injector about requests, replies and messages, or no longer.
func (d faultDoor) Attend(busy bool) {
	d.replies.replied, d.env.PubSub.Drop = nil, nil
	if busy {
		d.replies.replied, d.env.PubSub.Drop = d.faults.Replied, d.faults.Drops
	}
	d.attend()
}

// Faults returns what makes requests, replies and messages go wrong, for a test kit. From the first
// call on, each request costs a little more: it is counted.
func (e *Engine) Faults() (f *fault.Injector) {
	e.Outside(func() {
		f = e.injector()
		f.Keep()
	})
	return f
}

// injector returns e.faults, and makes it if there is none. Until it has a rule it costs nothing.
func (e *Engine) injector() *fault.Injector {
	if e.faults == nil {
		e.faults = fault.NewInjector(faultDoor{e}, &e.env)
	}
	return e.faults
}

// Down reports whether new connections are to be closed at once. It is called inside Do.
func (e *Engine) Down() bool { return e.faults != nil && e.faults.Down() }

// injected applies the faults to a client's request. The verdict admitted means that the other
// checks follow.
func (e *Engine) injected(c *command.Ctx, args resp.Args) (verdict, *resp.Reply) {
	switch v, failure := e.faults.Admit(c, args); v {
	case fault.Lost:
		return refused, &resp.NoReply
	case fault.Failed:
		return e.checks.refuse(c, failure)
	case fault.Delayed:
		return delayed, nil
	}
	return admitted, nil
}
