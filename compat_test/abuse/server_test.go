package abuse

import (
	"context"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/lockredis/lockredis"
	"github.com/lockredis/lockredis/compat_test/wire"
	"github.com/lockredis/lockredis/expiry"
)

// long reports whether LOCKREDIS_ABUSE asks for the longer attacks.
func long() bool { return os.Getenv("LOCKREDIS_ABUSE") == "long" }

// scaled returns n in a plain run and 50 n in a long run.
func scaled(n int) int {
	if long() {
		return 50 * n
	}
	return n
}

// newRand returns the test's random numbers and logs the seed that repeats them.
func newRand(t *testing.T) *rand.Rand {
	t.Helper()
	seed := uint64(7)
	switch text := os.Getenv("LOCKREDIS_ABUSE_SEED"); {
	case text != "":
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		seed = n
	case long():
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("LOCKREDIS_ABUSE_SEED=%d repeats this", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// complaints is a log handler that keeps errors. A caught panic is logged as an error.
type complaints struct {
	mu   sync.Mutex // guards list
	list []string
}

func (c *complaints) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelError }

func (c *complaints) Handle(_ context.Context, r slog.Record) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	text := r.Message
	r.Attrs(func(a slog.Attr) bool {
		text += "\n" + a.String()
		return true
	})
	c.list = append(c.list, text)
	return nil
}

func (c *complaints) WithAttrs([]slog.Attr) slog.Handler { return c }
func (c *complaints) WithGroup(string) slog.Handler      { return c }

// len returns the number of errors since the last take.
func (c *complaints) len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.list)
}

// take returns the errors since the last call.
func (c *complaints) take() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := c.list
	c.list = nil
	return list
}

// victim is the server under attack.
type victim struct {
	t    *testing.T
	srv  *lockredis.Server
	addr string
	log  *complaints
}

// burst is how many connections a test opens at most before it calls alive. The kernel's
// queue of connections that wait for accept holds more on every system. If it overflowed,
// the server could accept a later connection before an earlier one.
const burst = 50

// attack starts a server. At the end of the test it checks that the server has logged no
// error, that Close returns soon, and that no goroutine is left.
func attack(t *testing.T, directives map[string]string) *victim {
	t.Helper()
	return attackOn(t, expiry.System(), directives)
}

// attackOn is attack with a given clock.
func attackOn(t *testing.T, clock expiry.Clock, directives map[string]string) *victim {
	t.Helper()
	ignore := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, ignore) }) // after all connections are closed
	v := &victim{t: t, log: &complaints{}}
	all := map[string]string{"busy-reply-threshold": "50"}
	maps.Copy(all, directives)
	v.srv = lockredis.New(lockredis.Config{Directives: all, Clock: clock, Logger: slog.New(v.log)})
	if err := v.srv.Start(); err != nil {
		t.Fatal(err)
	}
	v.addr = v.srv.Addr()
	t.Cleanup(func() {
		v.close()
		for _, text := range v.log.take() {
			t.Errorf("the server logged: %s", text)
		}
	})
	return v
}

// close closes the server. It must be quick whatever the server does.
func (v *victim) close() {
	v.t.Helper()
	done := make(chan struct{})
	go func() { v.srv.Close(); close(done) }()
	select {
	case <-done:
	case <-time.After(slack(2 * time.Second)):
		v.t.Fatalf("Close takes longer than %v", slack(2*time.Second))
	}
}

// slack adapts a time limit of a fast and idle machine to a slow and busy one, and to the
// race detector.
func slack(d time.Duration) time.Duration { return d * slowness }

// dial returns a connection that the test's end closes.
func (v *victim) dial() *wire.Conn {
	v.t.Helper()
	c, err := wire.Dial(v.addr)
	if err != nil {
		v.t.Fatal(err)
	}
	c.SetTimeout(slack(wire.DefaultTimeout))
	v.t.Cleanup(func() { c.Close() })
	return c
}

// do runs one command on c and returns its reply.
func (v *victim) do(c *wire.Conn, args ...string) wire.Value {
	v.t.Helper()
	r, err := c.Do(args...)
	if err != nil {
		v.t.Fatalf("%s: %v", shown(args), err)
	}
	return r
}

// want runs one command and compares its reply with the text of wire.Value.String.
func (v *victim) want(c *wire.Conn, reply string, args ...string) {
	v.t.Helper()
	if got := v.do(c, args...).String(); got != reply {
		v.t.Errorf("%s\n got %.300s\nwant %.300s", shown(args), got, reply)
	}
}

// alive checks that a new client soon gets its PONG. The server has then accepted all
// earlier connections, if they are no more than a burst.
func (v *victim) alive() {
	v.t.Helper()
	begin := time.Now()
	c, err := wire.Dial(v.addr)
	if err != nil {
		v.t.Fatal(err)
	}
	defer c.Close()
	c.SetTimeout(slack(wire.DefaultTimeout))
	r, err := c.Do("PING")
	if err != nil || r.String() != "+PONG" {
		v.t.Fatalf("PING: %s %v", r, err)
	}
	if d := time.Since(begin); d > slack(time.Second) {
		v.t.Errorf("PONG took %v", d)
	}
}

// eventually polls until holds returns "". Any other text says what is missing.
func eventually(t *testing.T, limit time.Duration, holds func() string) {
	t.Helper()
	deadline := time.Now().Add(slack(limit))
	for {
		missing := holds()
		if missing == "" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal(missing)
		}
		<-time.After(5 * time.Millisecond)
	}
}

// footprint is a process's use of resources.
type footprint struct {
	goroutines int
	files      int // 0 on a system that does not report it
	heap       uint64
}

func measure() footprint {
	runtime.GC()
	runtime.GC() // the second one empties the pools
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	files, _ := os.ReadDir("/proc/self/fd")
	return footprint{runtime.NumGoroutine(), len(files), m.HeapAlloc}
}

// recovers checks that goroutines, files and heap are about as before, after FLUSHALL and
// without clients.
func (v *victim) recovers(before footprint) {
	v.t.Helper()
	const bytes, goroutines, files = 24 << 20, 4, 0
	c, err := wire.Dial(v.addr)
	if err != nil {
		v.t.Fatal(err)
	}
	c.SetTimeout(slack(wire.DefaultTimeout))
	for _, name := range []string{"FLUSHALL", "SCRIPT"} {
		args := []string{name}
		if name == "SCRIPT" {
			args = append(args, "FLUSH")
		}
		v.want(c, "+OK", args...)
	}
	c.Close()
	eventually(v.t, 3*time.Second, func() string {
		now := measure()
		switch {
		case now.goroutines > before.goroutines+goroutines:
			return "goroutines: " + strconv.Itoa(before.goroutines) + " before, now " +
				strconv.Itoa(now.goroutines)
		case now.files > before.files+files:
			return "files: " + strconv.Itoa(before.files) + " before, now " + strconv.Itoa(now.files)
		case now.heap > before.heap+bytes:
			return "heap: " + strconv.FormatUint(before.heap>>20, 10) + " MB before, now " +
				strconv.FormatUint(now.heap>>20, 10) + " MB"
		}
		return ""
	})
}

// shown returns a command as redis-cli takes it, shortened.
func shown(args []string) string {
	words := make([]string, len(args))
	for i, a := range args {
		if len(a) > 300 {
			a = a[:300] + "…" + strconv.Itoa(len(a))
		}
		words[i] = wire.Quote([]byte(a))
	}
	return strings.Join(words, " ")
}
