package server_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/command/commandtest"
	"github.com/lockredis/lockredis/luaexec"
)

// memoryInUse is the used memory, in bytes.
type memoryInUse struct {
	command.Memory
	bytes int64
}

func (m memoryInUse) Used() int64 { return m.bytes }
func (m memoryInUse) Peak() int64 { return m.bytes }

func TestSizesAreFormattedAsInRedis(t *testing.T) {
	h := commandtest.New(t)
	h.Ctx.Clients, h.Ctx.Scripts = noClients{}, new(luaexec.Runtime)
	for bytes, want := range map[int64]string{
		0: "0B", 1023: "1023B", 1024: "1.00K", 1<<20 - 1: "1024.00K", 1 << 20: "1.00M",
		1 << 30: "1.00G", 1 << 40: "1.00T", 3 << 39: "1.50T",
	} {
		h.Ctx.Memory = memoryInUse{bytes: bytes}
		lines := strings.Split(h.Run("info memory").Text(), "\r\n")
		if !slices.Contains(lines, "used_memory_human:"+want) {
			t.Errorf("%d bytes are not %s", bytes, want)
		}
	}
}
