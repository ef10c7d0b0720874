package lockredis_test

import (
	"net"
	"os"
	"runtime"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/lockredis/lockredis"
	"github.com/lockredis/lockredis/compat_test/wire"
	"github.com/lockredis/lockredis/internal/redistest"
)

// holdings counts what a process holds.
type holdings struct {
	goroutines, files int
	heap              uint64 // bytes
}

func held() holdings {
	runtime.GC()
	runtime.GC() // the second one empties the pools
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	files, _ := os.ReadDir("/proc/self/fd") // none on systems without /proc
	return holdings{runtime.NumGoroutine(), len(files), m.HeapAlloc}
}

// awaitHoldings polls until the process holds no more than before, with some slack for the
// heap.
func awaitHoldings(t *testing.T, before holdings) {
	t.Helper()
	const slack = 8 << 20
	deadline := time.Now().Add(patience)
	for {
		now := held()
		if now.goroutines <= before.goroutines && now.files <= before.files &&
			now.heap <= before.heap+slack {
			t.Logf("%d goroutines, %d files, %d KB of heap before; now %d, %d, %d KB",
				before.goroutines, before.files, before.heap>>10,
				now.goroutines, now.files, now.heap>>10)
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("goroutines, files, bytes of heap: %v before, now %v", before, now)
		}
		runtime.Gosched()
	}
}

func TestTenServersStartedAndClosedManyTimesLeaveNothing(t *testing.T) {
	defer goleak.VerifyNone(t)
	rounds := 50
	switch {
	case os.Getenv("LOCKREDIS_ABUSE") == "long":
		rounds = 1000
	case redistest.Quick():
		rounds = 4
	case !redistest.Whole():
		rounds = 10
	}
	lives(t, 0) // allocates what a process allocates once
	before := held()
	for round := range rounds {
		lives(t, round)
	}
	awaitHoldings(t, before)
}

// lives starts ten servers and connects clients in many states to each. In even rounds it
// closes the clients before the servers, in odd rounds the servers first.
func lives(t *testing.T, round int) {
	t.Helper()
	var servers [10]*lockredis.Server
	var clients []net.Conn
	for i := range servers {
		servers[i] = lockredis.New(lockredis.Config{
			Directives: map[string]string{"notify-keyspace-events": "KEA"},
		})
		if err := servers[i].Start(); err != nil {
			t.Fatal(err)
		}
	}
	for i, srv := range servers {
		clients = append(clients, traffic(t, srv, i+round)...)
	}
	hangUp := func() {
		for _, nc := range clients {
			nc.Close()
		}
	}
	if round%2 == 0 {
		hangUp()
	}
	closeAtOnce(servers[:])
	if round%2 == 1 {
		hangUp()
	}
}

// closeAtOnce closes half of the servers at the same time, and meanwhile the others one by
// one.
func closeAtOnce(servers []*lockredis.Server) {
	done := make(chan struct{})
	for _, srv := range servers[:len(servers)/2] {
		go func() { srv.Close(); done <- struct{}{} }()
	}
	for _, srv := range servers[len(servers)/2:] {
		srv.Close()
	}
	for range servers[:len(servers)/2] {
		<-done
	}
}

// traffic leaves a server with clients in many states: idle, blocked, subscribed, in MULTI,
// in the middle of a command, not reading, held by CLIENT PAUSE, and every third time with a
// client that runs an endless script.
func traffic(t *testing.T, srv *lockredis.Server, turn int) (clients []net.Conn) {
	t.Helper()
	dial := func() *wire.Conn {
		nc, err := net.Dial("tcp", srv.Addr())
		if err == nil && turn%4 == 3 { // a client that disconnects at once, and a pipe
			nc.Close()
			nc, err = srv.Dial(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		clients = append(clients, nc)
		c := wire.NewConn(nc)
		c.SetTimeout(time.Minute) // on a busy machine too
		return c
	}
	send := func(cmds ...[]string) {
		if err := dial().SendAll(cmds...); err != nil {
			t.Fatal(err)
		}
	}
	c := dial()
	expect(t, c, "SET k v PX 1000000", "+OK\r\n")
	expect(t, c, "EVAL return{redis.call('INCR','n'),#cjson.encode({1})} 0", "*2\r\n:1\r\n:3\r\n")
	send([]string{"BLPOP", "l", "1000"})
	send([]string{"SUBSCRIBE", "c", "__keyevent@0__:set"}, []string{"PSUBSCRIBE", "*"})
	send([]string{"MULTI"}, []string{"INCR", "n"})
	send([]string{"WATCH", "k"})
	if err := dial().WriteRaw([]byte("*2\r\n$3\r\nGET\r\n$10\r\nab")); err != nil {
		t.Fatal(err)
	}
	if turn%5 == 0 { // more replies than socket buffers hold
		expect(t, c, "SETRANGE big 1000000 x", ":1000001\r\n")
		send(slices.Repeat([][]string{{"GET", "big"}}, 8)...)
	}
	expect(t, c, "SET brief v PX 1", "+OK\r\n")
	expect(t, c, "CLIENT PAUSE 100000 WRITE", "+OK\r\n")
	send([]string{"SET", "held", "back"})
	if turn%3 == 0 {
		send([]string{"EVAL", endless, "0"})
	}
	return clients
}
