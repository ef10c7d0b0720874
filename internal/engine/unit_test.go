package engine

import (
	"testing"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
)

// The client of a web request has left before its command ends.
func TestAWebRequestEndsItsClientWhileRoomsLookAtCommands(t *testing.T) {
	e, _ := newClocked(t)
	monitor, _ := connect(e)
	tracker, _ := connect(e)
	s, _ := connect(e)
	expectReply(t, send(e, s, "CLIENT", "TRACKING", "ON"), "+OK\r\n")
	expectReply(t, send(e, tracker, "CLIENT", "TRACKING", "ON"), "+OK\r\n")
	expectReply(t, send(e, monitor, "MONITOR"), "+OK\r\n")
	expectReply(t, send(e, s, "POST", "/"), "")
	expectReply(t, send(e, tracker, "PING"), "+PONG\r\n")
	if s.State() != command.Gone || e.env.Stats.Unexpected != 0 {
		t.Errorf("the client is %v, with %d panics", s.State(), e.env.Stats.Unexpected)
	}
}

func TestAnEmptyCommandIsTheNextOneForReplySkip(t *testing.T) {
	e, _ := newClocked(t)
	s, out := connect(e)
	e.Do(&Caller{}, func() {
		for _, line := range []resp.Args{words("CLIENT", "REPLY", "SKIP"), {}, words("PING")} {
			if !e.Execute(s, line) {
				t.Errorf("%q did not run", line)
			}
		}
	})
	expectReply(t, out.take(), "+PONG\r\n")
}
