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

// Faults returns what makes requests, replies and messages go wrong. The first call makes it; until
// then faults cost nearly nothing.
func (e *Engine) Faults() *fault.Injector {
	e.Outside(func() {
		if e.faults != nil {
			return
		}
		e.faults = fault.NewInjector(faultDoor{e}, &e.env)
		e.replies.replied = e.faults.Replied
		e.env.PubSub.Drop = e.faults.Drops
		e.attend()
	})
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
