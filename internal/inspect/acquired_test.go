package inspect_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockredis/lockredis/internal/inspect"
)

func TestLockLeaksAllTellsWhoHasAcquiredALock(t *testing.T) {
	s := start(t)
	c := s.connect()
	ask(t, c, "CLIENT SETNAME orders")
	for range 3 {
		take(t, c, "a", alice, "30000", "")
		take(t, c, "a", alice, "30000", "") // one more hold
		ask(t, c, "DEL a")
	}
	ask(t, c, "FLUSHALL")
	s.clock.Set(epoch.Add(2 * time.Second))
	ask(t, c, "HELLO 3")
	want := `[{"type": "acquired", "name": "a", "db": 0, "owner": "` + alice + `", "times": 3, "held-ms": 2000, ` +
		`"client-id": 3, "client-name": "orders", "client-addr": "pipe:1", "counts": 0, "text": "lock \"a\" was ` +
		`acquired by ` + alice + ` 3 times, the last time 2s ago; its client was pipe:1 (orders)"}]`
	if got := ask(t, c, "LOCK.LEAKS ALL"); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if got := ask(t, c, "LOCK.LEAKS"); got != "[]" {
		t.Errorf("without ALL: %s", got)
	}
}

func TestTheHistoryHasEveryKindOfLock(t *testing.T) {
	s := start(t)
	c := s.connect()
	take(t, c, "r", alice, "0", "read")
	take(t, c, "w", alice+":write", "0", "write")
	take(t, c, "f", alice, "0", "", "redisson_lock_queue:{f}")
	ask(t, c, "SELECT 2")
	take(t, c, "r", bob, "0", "read")
	ask(t, c, `EVAL "redis.call('rpush', KEYS[1], ARGV[1])" 1 redisson_lock_queue:{f} `+bob) // waits
	ask(t, c, `EVAL "redis.call('hset', KEYS[1], 'price', 1)" 1 data`)
	var got []string
	s.Inspector.Enter(func(v inspect.View) {
		for _, a := range v.Acquired() {
			got = append(got, fmt.Sprint(a.DB, " ", a.Name, " ", a.Owner, " ", a.Count))
		}
	})
	want := []string{"0 r " + alice + " 1", "0 w " + alice + " 1", "0 f " + alice + " 1", "2 r " + bob + " 1"}
	if !slices.Equal(got, want) {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestTheHistoryForgetsTheOldestAcquisition(t *testing.T) {
	var h inspect.History
	for i := range 100 {
		h.Add(0, fmt.Sprint(i), []byte(alice), &inspect.Entry{Since: int64(i)})
		h.Add(0, "loop", []byte(alice), &inspect.Entry{Since: int64(i)})
	}
	names := map[string]int64{}
	for _, a := range h.All() {
		names[a.Name] = a.Count
	}
	if len(names) != 64 || names["loop"] != 100 || names["99"] != 1 || names["36"] != 0 {
		t.Errorf("%v", names)
	}
	if text := h.All()[0].Text(0); !strings.Contains(text, "acquired by "+alice) {
		t.Error(text)
	}
}
