package command

import (
	"strings"
	"testing"

	"github.com/lockredis/lockredis/resp"
)

func TestSetbitAtTheHighestOffsetAllocatesOnce(t *testing.T) {
	h := newHarness(t)
	allocated := testing.AllocsPerRun(1, func() {
		h.run("setbit k 4294967295 1")
		h.run("setbit k 4294967294 1")
		h.run("del k")
	})
	if allocated > 40 {
		t.Errorf("%v allocations", allocated)
	}
	h.check("setbit k 4294967295 1 => :0\n setbit k 4294967294 1 => :0\n strlen k => :536870912\n getbit k 4294967294 => :1\n del k => :1")
}

// A bitmap that grows bit by bit must not be copied each time.
func TestAGrowingBitmapIsSeldomCopied(t *testing.T) {
	h := newHarness(t)
	var moves int
	var last *byte
	for i := range 20_000 {
		h.ctx.Cmd = h.ctx.Table.Lookup([]byte("setbit"))
		offset := resp.BulkInt(int64(8 * i)).Text()
		h.ctx.Cmd.Run(&h.ctx, resp.Args{[]byte("setbit"), []byte("k"), []byte(offset), []byte("1")})
		s, _ := asString(h.ctx.DB.Peek([]byte("k")))
		if first := &s.Bytes(nil)[0]; first != last {
			moves, last = moves+1, first
		}
	}
	if moves > 60 {
		t.Errorf("the text has moved %d times in 20000 commands", moves)
	}
}

func TestBitfieldEventsComeOncePerCommandThatChangesAField(t *testing.T) {
	h := newHarness(t)
	h.check(strings.TrimSpace(`
		bitfield k set u8 0 1 set u8 8 2 => *2 :0 :0 => new k, setbit k
		bitfield k set u8 0 1 set u8 8 2 => *2 :1 :2 => no events
		bitfield k set u8 0 1 set u8 8 3 => *2 :1 :2 => setbit k
		bitfield k overflow fail incrby u8 0 255 => *1 $-1 => no events
		bitfield k get u8 0 => *1 :1 => no events
	`))
	if h.ctx.Dirty != 3 {
		t.Errorf("%d changes are counted, want 3", h.ctx.Dirty)
	}
}

func TestBitopReusesItsDestinationOnlyIfItIsNoSource(t *testing.T) {
	h := newHarness(t)
	for _, line := range []string{"SET a abcdefgh", "SET b ABCDEFGH", "SET d zzzzzzzz", "PEXPIRE d 100000", "BITOP OR d a b"} {
		h.run(line)
	}
	if got := h.run("GET d").Text(); got != "abcdefgh" || h.ctx.DB.Peek([]byte("d")).HasDeadline() {
		t.Errorf("OR is %q", got)
	}
	h.run("BITOP AND d b d")
	if got := h.run("GET d").Text() + h.run("GET b").Text(); got != "ABCDEFGHABCDEFGH" {
		t.Errorf("AND with its destination: %q", got)
	}
	h.run("SET d zzzzzzzzzzzz")
	h.run("BITOP OR d a")
	h.run("BITOP OR d a b")
	if got := h.run("GET d").Text(); got != "abcdefgh" {
		t.Errorf("a shorter result is %q", got)
	}
}
