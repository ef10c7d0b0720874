package engine

import (
	"strings"
	"testing"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
)

// parkOn parks s on key with the functions of a blocking command.
func parkOn(
	e *Engine, s *command.Session, key string,
	serve, missing func(*command.Ctx, []byte) (resp.Reply, bool),
) {
	e.Do(&Caller{}, func() {
		e.parking.Park(&command.Parked{
			Keys: []string{key}, Serve: serve, Missing: missing, OnTimeout: resp.NilArray,
			Session: s, Cmd: e.env.Table.Lookup([]byte("blpop")),
		})
	})
}

// giveSignal gives the signal of a command that has changed key.
func giveSignal(e *Engine, key string) {
	e.Outside(func() {
		e.parking.Signal(0, key)
		e.parking.serveReady()
	})
}

func TestAClientParkedOnAKeyIsServedWhenTheKeyHasGrownEnough(t *testing.T) {
	e, _ := newClocked(t)
	s, _ := connect(e)
	waiter, got := connect(e)
	parkOn(e, waiter, "h", func(c *command.Ctx, key []byte) (resp.Reply, bool) {
		return resp.Status("GROWN"), c.DB.Peek(key).Value().Encoding() == "hashtable"
	}, nil)
	send(e, s, "HSET", "h", "f", "v")
	expectReply(t, got.take(), "")
	send(e, s, "HSET", "h", "f", strings.Repeat("v", 100))
	expectReply(t, got.take(), "") // no signal yet
	giveSignal(e, "h")
	expectReply(t, got.take(), "+GROWN\r\n")
	if err := e.Check(); err != nil {
		t.Error(err)
	}
}

func TestAClientThatWaitsForAKeysEndIsServedWhenTheKeyIsMissing(t *testing.T) {
	e, _ := newClocked(t)
	s, _ := connect(e)
	patient, other := connect(e)
	waiter, got := connect(e)
	never := func(*command.Ctx, []byte) (resp.Reply, bool) { return resp.NoReply, false }
	parkOn(e, patient, "k", never, nil)
	parkOn(e, waiter, "k", never, func(*command.Ctx, []byte) (resp.Reply, bool) {
		return resp.Error("GONE the key was deleted"), true
	})
	send(e, s, "SET", "k", "v")
	expectReply(t, got.take(), "")
	send(e, s, "DEL", "k")
	giveSignal(e, "k")
	expectReply(t, got.take(), "-GONE the key was deleted\r\n")
	expectReply(t, other.take(), "")
	if n := e.env.Stats.Errors["GONE"]; n != 1 {
		t.Errorf("the error was counted %d times", n)
	}
	if err := e.Check(); err != nil {
		t.Error(err)
	}
}

func TestANewKeyOfTheWrongTypeDoesNotEndAWait(t *testing.T) {
	e, _ := newClocked(t)
	s, _ := connect(e)
	waiter, got := connect(e)
	send(e, waiter, "BLPOP", "q", "0")
	for _, line := range []string{"SET q v", "DEL q", "SADD q m", "DEL q", "ZADD q 1 m", "DEL q"} {
		send(e, s, strings.Fields(line)...)
		expectReply(t, got.take(), "")
	}
	send(e, s, "RPUSH", "q", "x")
	expectReply(t, got.take(), "*2\r\n$1\r\nq\r\n$1\r\nx\r\n")
}

func TestAServedCommandIsCountedOnce(t *testing.T) {
	e, _ := newClocked(t)
	s, _ := connect(e)
	waiter, got := connect(e)
	send(e, waiter, "BLPOP", "q", "0")
	send(e, s, "RPUSH", "q", "x")
	expectReply(t, got.take(), "*2\r\n$1\r\nq\r\n$1\r\nx\r\n")
	for _, name := range []string{"blpop", "rpush"} {
		if n := e.env.Table.Calls(e.env.Table.Lookup([]byte(name))).Calls; n != 1 {
			t.Errorf("%s was counted %d times", name, n)
		}
	}
	if n := e.env.Stats.Commands; n != 2 {
		t.Errorf("%d commands were counted, want 2", n)
	}
}
