package persistence

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/lockredis/lockredis/internal/redistest"
)

// TestPausesOfBGSAVE measures how long a client waits while BGSAVE writes as many keys as
// LOCKREDIS_PAUSES says. Without it the test skips: the figures depend on the machine.
func TestPausesOfBGSAVE(t *testing.T) {
	keys, err := strconv.Atoi(os.Getenv("LOCKREDIS_PAUSES"))
	if err != nil {
		t.Skip("LOCKREDIS_PAUSES is not set to a number of keys")
	}
	program := redistest.BuildLockredis(t)
	args := []string{"--enable-debug-command", "yes"}
	for name, server := range map[string]*redistest.Server{
		"lockredis":    redistest.Run(t, redistest.Command{Program: program, Args: args}),
		"redis-server": redistest.Start(t, args...),
	} {
		c := dial(t, name, server.Addr)
		for i := 0; i < keys; i += 100 {
			var cmds [][]string
			for j := i; j < i+100; j++ {
				n := fmt.Sprint(j)
				cmds = append(cmds, []string{"HSET", "lock:" + n, "6f1c1a2e-54b7-4f7c-9d4a-0c2f6a8e3b11:" + n, "1"},
					[]string{"PEXPIRE", "lock:" + n, "30000000"})
			}
			if err := c.SendAll(cmds...); err != nil {
				t.Fatal(err)
			}
			for range cmds {
				if _, err := c.Receive(); err != nil {
					t.Fatal(err)
				}
			}
		}
		idle := longest(c, func(elapsed time.Duration) bool { return elapsed < 3*time.Second })
		start := time.Now()
		begun := time.Now()
		c.do("BGSAVE")
		took := time.Since(begun)
		last := time.Now()
		pause := longest(c, func(time.Duration) bool {
			if time.Since(last) < 100*time.Millisecond {
				return true
			}
			last = time.Now()
			return info(c, "rdb_bgsave_in_progress") == "1"
		})
		t.Logf("%s, %d keys: idle %v; BGSAVE answers after %v, takes %v, longest reply meanwhile %v",
			name, keys, idle, took, time.Since(start), pause)
		if status := info(c, "rdb_last_bgsave_status"); status != "ok" {
			t.Errorf("%s: BGSAVE: %s", name, status)
		}
	}
}

// longest sends a write again and again while more, and returns the longest time to a reply.
func longest(c *client, more func(elapsed time.Duration) bool) (pause time.Duration) {
	for start, i := time.Now(), 0; more(time.Since(start)); i++ {
		sent := time.Now()
		c.do("HINCRBY", fmt.Sprint("lock:", i*7919%1000), "n", "1")
		pause = max(pause, time.Since(sent))
	}
	return pause
}
