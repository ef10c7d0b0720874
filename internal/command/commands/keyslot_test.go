package commands_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockredis/lockredis/internal/cluster"
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/command/commandtest"
)

// slotKeys returns the arguments that decide the slot of a command line.
func slotKeys(h *commandtest.Harness, line string) string {
	args := commandtest.Args(line)
	keys := []string{}
	h.Ctx.Table.Find(args).SlotKeys(args, func(key []byte) bool {
		keys = append(keys, string(key))
		return true
	})
	return fmt.Sprint(keys)
}

func TestKeysAndShardChannelsDecideTheSlot(t *testing.T) {
	h := commandtest.New(t)
	for line, want := range map[string]string{
		"get a":                                  "[a]",
		"ping a":                                 "[]",
		"mset a 1 b 2":                           "[a b]",
		"mset a 1 b":                             "[a b]",
		"blpop a b 1":                            "[a b]",
		"set a b":                                "[a]",
		"lmove a b left right":                   "[a b]",
		"eval x 0 a b":                           "[]",
		"eval x 2 a b c":                         "[a b]",
		"eval x 2x a b c":                        "[a b]",
		"eval x 4 a b c":                         "[]",
		"eval x -1 a b":                          "[]",
		"zunionstore d 2 a b weights 1 2":        "[a b d]",
		"zunionstore d 3 a b":                    "[]",
		"blmpop 1 2 a b left":                    "[a b]",
		"sort a by x* get y* store d":            "[a d]",
		"sort a store d store e":                 "[a e]",
		"object encoding a":                      "[a]",
		"memory usage a":                         "[a]",
		"ssubscribe a b":                         "[a b]",
		"sunsubscribe":                           "[]",
		"spublish a b":                           "[a]",
		"subscribe a b":                          "[]",
		"watch a b":                              "[a b]",
		"cluster keyslot a":                      "[]",
		"evalsha_ro 0 1 a b":                     "[a]",
		"sintercard 2 a b limit 1":               "[a b]",
		"script exists a b":                      "[]",
		"getex a ex 1":                           "[a]",
		"copy a b db 0":                          "[a b]",
		"lcs a b len":                            "[a b]",
		"zrangestore d s 0 -1":                   "[d s]",
		"sinterstore d a b":                      "[d a b]",
		"bzmpop 0 1 a max":                       "[a]",
		"command getkeys get a":                  "[]",
		"pubsub shardnumsub a b":                 "[]",
		"multi":                                  "[]",
		"rename a b":                             "[a b]",
		"zinterstore d 1x a weights 1 aggregate": "[a d]",
	} {
		if got := slotKeys(h, line); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}

func TestFindingTheSlotAllocatesNothing(t *testing.T) {
	h := commandtest.New(t)
	for _, line := range []string{"get a", "mset a 1 b 2", "eval x 2 a b c", "set a b px 10"} {
		args := commandtest.Args(line)
		cmd := h.Ctx.Table.Find(args)
		slots := 0
		n := testing.AllocsPerRun(100, func() {
			cmd.SlotKeys(args, func(key []byte) bool {
				slots += cluster.Slot(key)
				return true
			})
		})
		if n != 0 {
			t.Errorf("%s: %v allocations", line, n)
		}
	}
}

func TestANodeIDIs40HexDigits(t *testing.T) {
	h := commandtest.New(t)
	a, b := command.NewNodeID(h.Ctx.Rand.Uint64), command.NewNodeID(h.Ctx.Rand.Uint64)
	if a == b || len(a) != 40 || strings.Trim(a, "0123456789abcdef") != "" {
		t.Errorf("%s, %s", a, b)
	}
}
