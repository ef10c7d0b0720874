package command

import (
	"time"

	"github.com/lockredis/lockredis/internal/inspect"
	"github.com/lockredis/lockredis/resp"
)

// Turning turns the clock: CLOCK.ADVANCE, CLOCK.SET and CLOCK.RESET.
type Turning interface {
	// Begin has c's client wait for a turn and returns resp.NoReply. If the turn would leave the
	// clock's range, it returns an error.
	Begin(c *Ctx, t Turn) resp.Reply
	// Real returns the time of the clients, whose clocks are not turned.
	Real() time.Time
}

// Turn says where the clock is turned to.
type Turn struct {
	Kind   TurnKind
	Millis int64
	Wake   bool // publish what wakes the waiters of the locks whose lease ends
	// Reply returns the reply when the turn is over, at now in Unix ms.
	Reply func(now int64, t *inspect.Turned) resp.Reply
}

// TurnKind is what Turn.Millis is.
type TurnKind uint8

// The kinds of a turn.
const (
	TurnBy   TurnKind = iota // forward by Millis
	TurnTo                   // to Millis in Unix ms, also back
	TurnReal                 // to the time of the clients
)
