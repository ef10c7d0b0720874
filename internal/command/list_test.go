package command

import (
	"slices"
	"testing"

	"github.com/lockredis/lockredis/resp"
)

// words is a command's arguments without allocations of its own.
func words(parts ...string) resp.Args {
	args := make(resp.Args, len(parts))
	for i, part := range parts {
		args[i] = []byte(part)
	}
	return args
}

func wire(r resp.Reply, proto int) string { return string(resp.Append(nil, r, proto)) }

// replies runs each command line and compares the reply's RESP2 encoding.
func replies(t *testing.T, h *harness, lines [][2]string) {
	t.Helper()
	for _, line := range lines {
		if got := wire(h.run(line[0]), h.ctx.Proto); got != line[1] {
			t.Errorf("%s answered %q in place of %q", line[0], got, line[1])
		}
	}
}

func TestListCommandsAnswerAsRedis(t *testing.T) {
	replies(t, newHarness(t), [][2]string{
		{"RPUSH l a b c b", ":4\r\n"},
		{"LINDEX l -1", "$1\r\nb\r\n"},
		{"LINDEX l 9", "$-1\r\n"},
		{"LINSERT l AFTER b x", ":5\r\n"},
		{"LINSERT l BEFORE none x", ":-1\r\n"},
		{"LRANGE l 1 2", "*2\r\n$1\r\nb\r\n$1\r\nx\r\n"},
		{"LPOS l b RANK -1", ":4\r\n"},
		{"LPOS l b COUNT 0", "*2\r\n:1\r\n:4\r\n"},
		{"LREM l -1 b", ":1\r\n"},
		{"LSET l 9 x", "-ERR index out of range\r\n"},
		{"LMOVE l l LEFT RIGHT", "$1\r\na\r\n"},
		{"LPOP l 2", "*2\r\n$1\r\nb\r\n$1\r\nx\r\n"},
		{"LPOP none", "$-1\r\n"},
		{"LPOP none 1", "*-1\r\n"},
		{"LPOP l 0", "*0\r\n"},
		{"LPOP l -1", "-ERR value is out of range, must be positive\r\n"},
		{"LMPOP 2 none l RIGHT COUNT 5", "*2\r\n$1\r\nl\r\n*2\r\n$1\r\na\r\n$1\r\nc\r\n"},
		{"LMPOP 1 l LEFT", "*-1\r\n"},
	})
}

func TestAMoveAnnouncesThePushBeforeThePop(t *testing.T) {
	h := newHarness(t)
	h.run("RPUSH a 1")
	h.events = nil
	h.run("RPOPLPUSH a b")
	want := []string{"new b", "lpush b", "rpop a", "del a"}
	if !slices.Equal(h.events, want) {
		t.Fatalf("events %q in place of %q", h.events, want)
	}
}

func TestABlockingCommandInATransactionAnswersAsOnTimeOut(t *testing.T) {
	h := newHarness(t)
	h.ctx.DenyBlocking = true
	replies(t, h, [][2]string{
		{"BLPOP none 0", "*-1\r\n"},
		{"BLMOVE none b LEFT LEFT 0", "$-1\r\n"},
		{"BRPOPLPUSH none b 0", "$-1\r\n"},
		{"BZPOPMIN none 0", "*-1\r\n"},
		{"BLMPOP 0 1 none LEFT", "*-1\r\n"},
		{"BLPOP none -1", "-ERR timeout is negative\r\n"},
		{"BLPOP none x", "-ERR timeout is not a float or out of range\r\n"},
		{"BLPOP none inf", "-ERR timeout is negative\r\n"},
	})
}

func TestListAndZSetHotPathsAllocateOnlyWhatTheyKeepOrReturn(t *testing.T) {
	h := newHarness(t)
	h.run("RPUSH l a b c d e f")
	h.run("ZADD z 1 a 2 b 3 c 4 d")
	h.ctx.Env.Events = silence{}
	for _, path := range []struct {
		most float64
		args resp.Args
	}{
		{1, words("LPUSH", "l", "x")}, // now and then the node grows
		{1, words("LPOP", "l")},       // the copy that the reply shows
		{0, words("LINDEX", "l", "1")},
		{1, words("LRANGE", "l", "0", "2")},
		{0, words("LREM", "l", "1", "none")},
		{0, words("ZADD", "z", "5", "a")},
		{0, words("ZADD", "z", "7", "b")},
		{0, words("ZINCRBY", "z", "1", "c")},
		{0, words("ZSCORE", "z", "a")},
		{0, words("ZCARD", "z")},
		{0, words("ZCOUNT", "z", "-inf", "(3")},
		{1, words("ZRANGE", "z", "0", "-1")},
		{1, words("ZRANGEBYSCORE", "z", "0", "9", "LIMIT", "0", "2")},
		{0, words("ZREM", "z", "none")},
	} {
		cmd := h.ctx.Table.Find(path.args)
		c := h.ctx
		c.Cmd = cmd
		if got := testing.AllocsPerRun(5, func() { cmd.Run(&c, path.args) }); got > path.most {
			t.Errorf("%q allocates %v times", path.args, got)
		}
	}
}
