package engine

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/tracking"
	"github.com/lockredis/lockredis/resp"
)

// maxScratch is the largest encoding buffer, in bytes, that is kept for reuse.
const maxScratch = 1 << 20

// replies encodes replies into the sessions' output queues. A reply may point into
// the store, so it is encoded before the next command runs.
type replies struct {
	scratch []byte                      // the encoding buffer
	reader  *command.Session            // gets the reply that is being encoded
	piece   func([]byte) ([]byte, bool) // writePiece, made once
	replied func(*command.Session)      // called when a reply is complete; nil: no faults
}

func (r *replies) init() { r.piece = r.writePiece }

// end queues the reply to a client's command, unless CLIENT REPLY silences it. A replica gets none. For a
// parked command it is called when the wait ends.
func (r *replies) end(s *command.Session, reply resp.Reply) {
	silent := false
	if mode := s.ReplyMode; mode != command.ReplyOn {
		silent, s.ReplyMode = mode.Silent(), mode.Next()
		if mode&command.ReplyCuts != 0 && !silent && reply.Kind() != resp.None {
			s.Replica.Answered()
			silent = true
		}
	}
	if reply.Kind() != resp.None && !silent {
		r.queue(s, reply)
	}
	if r.replied != nil {
		r.replied(s)
	}
}

// passEmpty passes over a command without words. It has no reply and no effect, but as in Redis it
// is the next command for CLIENT REPLY SKIP and CLIENT CACHING.
func (e *Engine) passEmpty(s *command.Session) {
	if s.Replica != nil {
		s.Replica.Lag = 0 // a replica says so that it works
	}
	s.ReplyMode = s.ReplyMode.Next()
	tracking.EndCaching(s)
}

// Send queues a reply, or a part of one, for c's session at once.
func (r *replies) Send(c *command.Ctx, reply resp.Reply) {
	if !c.Session.ReplyMode.Silent() {
		r.queue(c.Session, reply)
	}
}

func (r *replies) queue(s *command.Session, reply resp.Reply) {
	r.reader = s
	rest, more := resp.AppendInPieces(r.scratch[:0], reply, s.Proto, r.piece)
	if more {
		s.Conn.Write(rest)
	}
	r.reader = nil
	if r.scratch = rest; cap(rest) > maxScratch {
		r.scratch = nil
	}
}

// writePiece queues a part of a large reply. It reports false when the reader was
// disconnected, because it has too many unread bytes.
func (r *replies) writePiece(b []byte) ([]byte, bool) { return b[:0], r.reader.Conn.Write(b) }
