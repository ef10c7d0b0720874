package engine

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockredis/lockredis/expiry"
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/inspect"
	"github.com/lockredis/lockredis/resp"
)

// turning turns the clock for the CLOCK commands, one command after the other. The client is parked
// meanwhile. A goroutine makes the turn: a step to each deadline on the way, each as a unit of its
// own. After a step it waits until the clients that the step has woken have run what they had already
// sent. So a turn ends when nothing more follows from it. A turn without its client stops where it is;
// so Close, which ends all clients, ends the goroutine.
type turning struct {
	e     *Engine
	turns []*turn       // the first one is under way
	ahead time.Duration // of the clock, by all shifts; negative: it is behind
}

// turn is a CLOCK command that turns the clock.
type turn struct {
	command.Turn
	parked *command.Parked
	begun  bool
	done   bool // all steps are made
	from   int64
	end    time.Time // of a turn forward
	turned inspect.Turned
}

// Begin has c's client wait for a turn. A turn that would leave the clock's range is refused.
func (r *turning) Begin(c *command.Ctx, t command.Turn) resp.Reply {
	if !inRange(r.target(&t)) {
		return errClockRange
	}
	p := &command.Parked{
		Session: c.Session, Cmd: c.Cmd, DB: c.DB.ID(), OnTimeout: resp.Nil, // CLIENT UNBLOCK
	}
	c.Parking.Park(p)
	r.turns = append(r.turns, &turn{Turn: t, parked: p})
	if len(r.turns) == 1 {
		r.e.done.Go(r.run)
	}
	return resp.NoReply
}

// shift moves the clock, which must be Turnable.
func (r *turning) shift(by time.Duration) {
	e := r.e
	e.timer.t.Stop()
	e.clock.(expiry.Turnable).Shift(by)
	r.ahead += by
	e.stopwatch.Shifted(by)
	e.timer.armed = 0
	e.timer.look()
}

// stamped is how far from the present time, in ms, an argument may be that is a time.
const stamped = 10 * 365 * 24 * 60 * 60 * 1000

// moveTimes returns a script's arguments. Those that are Unix milliseconds by the clients' clocks are
// moved to the turned clock, if the process that controls the server turns it: Redisson's fair queues,
// permits, rate limiters and caches compute with such arguments, and reply with differences. A time
// has 13 digits and is at most ten years away.
func (r *turning) moveTimes(args [][]byte) [][]byte {
	by := r.moves()
	if by == 0 {
		return args
	}
	now := r.e.env.Space.Now() - by
	moved := slices.Clone(args)
	for i, arg := range args {
		if n, ok := timeNear(now, arg); ok {
			moved[i] = strconv.AppendInt(nil, n+by, 10)
		}
	}
	return moved
}

// moveBack returns the reply of a script as the client gets it. A colon with a time is the reply of a
// permit semaphore's script: the time at which the first lease ends. The client compares it with its
// own clock, so moveBack undoes what moveTimes does.
func (r *turning) moveBack(reply resp.Reply) resp.Reply {
	by := r.moves()
	if by == 0 || reply.Kind() != resp.KindBulk {
		return reply
	}
	if digits, ok := strings.CutPrefix(reply.Text(), ":"); ok {
		if n, ok := timeNear(r.e.env.Space.Now(), []byte(digits)); ok {
			return resp.BulkString(":" + strconv.FormatInt(n-by, 10))
		}
	}
	return reply
}

// moves returns by how many ms times in scripts are moved. It is 0 unless a process controls the
// server: only that process knows that the clock is turned.
func (r *turning) moves() int64 {
	if !r.e.env.Config.Control {
		return 0
	}
	return r.ahead.Milliseconds()
}

// timeNear reports whether a text is a time in Unix milliseconds near another one, and returns it.
func timeNear(now int64, text []byte) (n int64, is bool) {
	n, is = resp.ParseInt(text)
	return n, is && len(text) == 13 && n > now-stamped && n < now+stamped
}

// Real returns the time of the clients.
func (r *turning) Real() time.Time { return r.e.clock.(expiry.Turnable).Real() }

// inRange reports whether a server's clock can show t.
func inRange(t time.Time) bool { return t.UnixMilli() > 0 && t.Before(expiry.End) }

// target returns where a turn ends that begins now.
func (r *turning) target(t *command.Turn) time.Time {
	switch t.Kind {
	case command.TurnBy:
		now := r.e.clock.Now()
		if t.Millis > expiry.End.UnixMilli()-now.UnixMilli() {
			return expiry.End
		}
		return now.Add(time.Duration(t.Millis) * time.Millisecond)
	case command.TurnTo:
		return time.UnixMilli(t.Millis)
	}
	return r.Real()
}

// run makes the turns until there is none.
func (r *turning) run() {
	for more := true; more; {
		r.e.Outside(func() { more = r.step() })
		r.e.env.Server.Settle()
	}
}

// step makes a step of the first turn, or ends the turn. It reports whether there is more to do.
// After a panic, the client gets an error.
func (r *turning) step() (more bool) {
	t := r.turns[0]
	defer func() {
		if cause := recover(); cause != nil {
			r.e.panics.log("a turn of the clock", nil, cause)
			r.answer(t, resp.ErrInternal)
			more = len(r.turns) > 0
		}
	}()
	switch {
	case t.done:
		r.answer(t, t.Reply(r.e.env.Space.Now(), &t.turned))
	case t.parked.Session.Parked != t.parked: // the client waits no longer
		r.turns = r.turns[1:]
	default:
		r.make(t)
	}
	return len(r.turns) > 0
}

// answer ends a turn.
func (r *turning) answer(t *turn, reply resp.Reply) {
	r.turns = r.turns[1:]
	if t.parked.Session.Parked == t.parked {
		memoryDoor{door{r.e}}.Serve(t.parked, reply)
	}
}

// make makes a step. Leases that are over before the first one have ended by themselves.
func (r *turning) make(t *turn) {
	e := r.e
	if !t.begun {
		e.EndDue()
		t.begun, t.from, t.end = true, e.env.Space.Now(), r.target(&t.Turn)
		if !inRange(t.end) {
			t.end = expiry.End.Add(-time.Millisecond)
		}
		if by := t.end.Sub(e.clock.Now()); by < 0 {
			r.shift(by)
			e.readClock()
			t.done = true
			return
		}
	}
	if t.Kind == command.TurnReal {
		t.end = r.Real() // it went on
	}
	view := e.inspector.Inside()
	made := view.Turn(t.end, t.Wake, r.Real())
	t.turned.Add(made)
	if t.done = !made.More; t.done {
		t.turned.Add(view.Lapse(t.from, t.Wake, r.Real()))
	}
}
