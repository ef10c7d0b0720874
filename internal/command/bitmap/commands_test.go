package bitmap_test

import (
	"strings"
	"testing"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/command/commandtest"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

func TestSetbitAtTheHighestOffsetAllocatesOnce(t *testing.T) {
	h := commandtest.New(t)
	allocated := testing.AllocsPerRun(1, func() {
		h.Run("setbit k 4294967295 1")
		h.Run("setbit k 4294967294 1")
		h.Run("del k")
	})
	if allocated > 40 {
		t.Errorf("%v allocations", allocated)
	}
	h.Check("setbit k 4294967295 1 => :0\n setbit k 4294967294 1 => :0\n strlen k => :536870912\n getbit k 4294967294 => :1\n del k => :1")
}

// A bitmap that grows bit by bit must not be copied each time.
func TestAGrowingBitmapIsSeldomCopied(t *testing.T) {
	h := commandtest.New(t)
	var moves int
	var last *byte
	for i := range 20_000 {
		h.Ctx.Cmd = h.Ctx.Table.Lookup([]byte("setbit"))
		offset := resp.BulkInt(int64(8 * i)).Text()
		h.Ctx.Cmd.Run(&h.Ctx, resp.Args{[]byte("setbit"), []byte("k"), []byte(offset), []byte("1")})
		s, _ := command.As[*store.String](h.Ctx.DB.Peek([]byte("k")))
		if first := &s.Bytes(nil)[0]; first != last {
			moves, last = moves+1, first
		}
	}
	if moves > 60 {
		t.Errorf("the text has moved %d times in 20000 commands", moves)
	}
}

func TestBitfieldEventsComeOncePerCommandThatChangesAField(t *testing.T) {
	h := commandtest.New(t)
	h.Check(strings.TrimSpace(`
		bitfield k set u8 0 1 set u8 8 2 => *2 :0 :0 => new k, setbit k
		bitfield k set u8 0 1 set u8 8 2 => *2 :1 :2 => no events
		bitfield k set u8 0 1 set u8 8 3 => *2 :1 :2 => setbit k
		bitfield k overflow fail incrby u8 0 255 => *1 $-1 => no events
		bitfield k get u8 0 => *1 :1 => no events
	`))
	if h.Ctx.Dirty != 3 {
		t.Errorf("%d changes are counted, want 3", h.Ctx.Dirty)
	}
}

func TestBitopReusesItsDestinationOnlyIfItIsNoSource(t *testing.T) {
	h := commandtest.New(t)
	for _, line := range []string{"SET a abcdefgh", "SET b ABCDEFGH", "SET d zzzzzzzz", "PEXPIRE d 100000", "BITOP OR d a b"} {
		h.Run(line)
	}
	if got := h.Run("GET d").Text(); got != "abcdefgh" || h.Ctx.DB.Peek([]byte("d")).HasDeadline() {
		t.Errorf("OR is %q", got)
	}
	h.Run("BITOP AND d b d")
	if got := h.Run("GET d").Text() + h.Run("GET b").Text(); got != "ABCDEFGHABCDEFGH" {
		t.Errorf("AND with its destination: %q", got)
	}
	h.Run("SET d zzzzzzzzzzzz")
	h.Run("BITOP OR d a")
	h.Run("BITOP OR d a b")
	if got := h.Run("GET d").Text(); got != "abcdefgh" {
		t.Errorf("a shorter result is %q", got)
	}
}
