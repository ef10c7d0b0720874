package lockredis_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/lockredis/lockredis"
	"github.com/lockredis/lockredis/compat_test/wire"
)

func pipe(t testing.TB, srv *lockredis.Server) *wire.Conn {
	t.Helper()
	nc, err := srv.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close() })
	c := wire.NewConn(nc)
	c.SetTimeout(patience)
	return c
}

func TestDialConnectsToAServerWithoutASocket(t *testing.T) {
	srv := start(t, lockredis.Config{NoSocket: true})
	if srv.Addr() != "" || len(srv.Addrs()) != 0 {
		t.Fatalf("listens on %v", srv.Addrs())
	}
	c := pipe(t, srv)
	expect(t, c, "SET k v", "+OK\r\n")
	v, err := c.Do("CLIENT", "LIST")
	if err != nil || !strings.Contains(string(v.Raw), " addr=pipe:1 laddr=pipe:0 ") {
		t.Fatalf("%q, %v", v.Raw, err)
	}
	expect(t, c, "QUIT", "+OK\r\n")
	if _, err := c.Receive(); err == nil {
		t.Fatal("open after QUIT")
	}
}

func TestDialConnectsToAListeningServerToo(t *testing.T) {
	srv := start(t, lockredis.Config{})
	expect(t, pipe(t, srv), "SET k v", "+OK\r\n")
	expect(t, dial(t, srv), "GET k", "$1\r\nv\r\n")
}

func TestListenAddsAnAddress(t *testing.T) {
	srv := start(t, lockredis.Config{NoSocket: true})
	addr, err := srv.Listen("")
	if err != nil || addr != srv.Addr() {
		t.Fatalf("%v, %v; Addr is %s", addr, err, srv.Addr())
	}
	expect(t, dial(t, srv), "PING", "+PONG\r\n")
	if _, err := srv.Listen("nonsense"); err == nil {
		t.Fatal("Listen accepted a wrong address")
	}
}

func TestDialAndListenNeedARunningServer(t *testing.T) {
	srv := lockredis.New(lockredis.Config{NoSocket: true})
	for _, when := range []string{"before Start", "after Close"} {
		if _, err := srv.Dial(t.Context()); err == nil {
			t.Errorf("Dial worked %s", when)
		}
		if _, err := srv.Listen(""); err == nil {
			t.Errorf("Listen worked %s", when)
		}
		srv.Close()
	}
}

func TestDialReturnsItsContextsError(t *testing.T) {
	srv := start(t, lockredis.Config{NoSocket: true})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := srv.Dial(ctx); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}

func TestAPipeTakesALongPipelineBeforeTheClientReads(t *testing.T) {
	srv := start(t, lockredis.Config{NoSocket: true})
	nc, err := srv.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	nc.SetDeadline(time.Now().Add(patience))
	const n = 10000
	value := strings.Repeat("v", 1000)
	for i := range n {
		if _, err := fmt.Fprintf(nc, "ECHO %s%d\r\n", value, i); err != nil {
			t.Fatalf("command %d: %v", i, err)
		}
	}
	c := wire.NewConn(nc)
	c.SetTimeout(patience)
	for i := range n {
		receive(t, c, fmt.Sprintf("$%d\r\n%s%d\r\n", len(value)+len(fmt.Sprint(i)), value, i))
	}
}

// A pipe has a goroutine of its own, as each connection has with one processor.
func TestClientListShowsThatAPipeTakesNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := start(t, lockredis.Config{NoSocket: true})
		deaf, c := pipe(t, srv), pipe(t, srv)
		expect(t, c, "SET k "+strings.Repeat("v", 60_000), "+OK\r\n")
		expect(t, deaf, "CLIENT SETNAME deaf", "+OK\r\n")
		events := func() string {
			synctest.Wait()
			v, _ := c.Do("CLIENT", "LIST")
			_, rest, _ := strings.Cut(string(v.Raw), " name=deaf ")
			_, rest, _ = strings.Cut(rest, " events=")
			word, _, _ := strings.Cut(rest, " ")
			return word
		}
		const n = 500 // more than a pipe holds
		for range n {
			deaf.Send("GET", "k")
		}
		if got := events(); got != "rw" {
			t.Errorf("events=%s while the client does not read, want rw", got)
		}
		for range n {
			if _, err := deaf.Receive(); err != nil {
				t.Fatal(err)
			}
		}
		if got := events(); got != "r" {
			t.Errorf("events=%s when it has read all, want r", got)
		}
	})
}

func TestABlockingCommandIsServedOverAPipe(t *testing.T) {
	srv := start(t, lockredis.Config{NoSocket: true})
	waiter, other := pipe(t, srv), pipe(t, srv)
	waiter.Send("BLPOP", "q", "0")
	waiter.Send("PING")
	eventually(t, "the waiter is parked", func() bool {
		v, _ := other.Do("CLIENT", "LIST")
		return strings.Contains(string(v.Raw), "cmd=blpop")
	})
	expect(t, other, "RPUSH q e", ":1\r\n")
	receive(t, waiter, "*2\r\n$1\r\nq\r\n$1\r\ne\r\n")
	receive(t, waiter, "+PONG\r\n")
}

func TestClientKillEndsAPipeByItsAddress(t *testing.T) {
	srv := start(t, lockredis.Config{NoSocket: true})
	victim := pipe(t, srv)
	expect(t, victim, "PING", "+PONG\r\n")
	expect(t, pipe(t, srv), "CLIENT KILL TYPE normal ADDR pipe:1", ":1\r\n")
	if _, err := victim.Receive(); err == nil {
		t.Fatal("the connection is open")
	}
}

func TestAnEmptyDirectiveIsOneEmptyWord(t *testing.T) {
	srv := start(t, lockredis.Config{NoSocket: true, Directives: map[string]string{"save": ""}})
	expect(t, pipe(t, srv), "CONFIG GET save", "*2\r\n$4\r\nsave\r\n$0\r\n\r\n")
}

// inMemory starts servers without sockets in a bubble. They reach each other at the ports 1, 2 and so
// on, which they announce.
func inMemory(t *testing.T, n int) (servers []*wire.Conn) {
	byAddr := map[string]*lockredis.Server{}
	for i := range n {
		port := fmt.Sprint(i + 1)
		srv := start(t, lockredis.Config{
			NoSocket: true,
			Directives: map[string]string{
				"replica-announce-ip": "127.0.0.1", "replica-announce-port": port,
			},
			Dial: func(ctx context.Context, _, addr string) (net.Conn, error) {
				return byAddr[addr].Dial(ctx)
			},
		})
		byAddr["127.0.0.1:"+port] = srv
		servers = append(servers, pipe(t, srv))
	}
	return servers
}

func TestAServerInMemoryFollowsAnotherOneAtItsAnnouncedAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		servers := inMemory(t, 3)
		primary, replica, chained := servers[0], servers[1], servers[2]
		expect(t, primary, "SET k v", "+OK\r\n")
		expect(t, replica, "REPLICAOF 127.0.0.1 1", "+OK\r\n")
		synctest.Wait()
		expect(t, chained, "REPLICAOF 127.0.0.1 2", "+OK\r\n")
		time.Sleep(2 * time.Second) // a replica without a link refuses at first; it is asked again
		expect(t, chained, "GET k", "$1\r\nv\r\n")
		expect(t, primary, "SET k w", "+OK\r\n")
		expect(t, primary, "WAIT 1 0", ":1\r\n")
		synctest.Wait()
		expect(t, chained, "GET k", "$1\r\nw\r\n")
		v, _ := primary.Do("INFO", "replication")
		if !strings.Contains(string(v.Raw), "slave0:ip=127.0.0.1,port=2,state=online") {
			t.Errorf("the primary shows %s", v.Raw)
		}
		expect(t, replica, "REPLICAOF NO ONE", "+OK\r\n")
		expect(t, primary, "REPLICAOF 127.0.0.1 2", "+OK\r\n")
		expect(t, replica, "SET k x", "+OK\r\n")
		expect(t, replica, "WAIT 2 0", ":2\r\n")
		expect(t, primary, "GET k", "$1\r\nx\r\n")
	})
}

func TestMigrateReachesAServerInMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		servers := inMemory(t, 2)
		expect(t, servers[0], "SET k v", "+OK\r\n")
		expect(t, servers[0], "MIGRATE 127.0.0.1 2 k 0 1000", "+OK\r\n")
		expect(t, servers[1], "GET k", "$1\r\nv\r\n")
	})
}

// BenchmarkGoRedisOverAPipe measures a command of a test that uses the server in memory.
func BenchmarkGoRedisOverAPipe(b *testing.B) {
	srv := lockredis.New(lockredis.Config{NoSocket: true})
	if err := srv.Start(); err != nil {
		b.Fatal(err)
	}
	defer srv.Close()
	benchmarkSets(b, &redis.Options{
		Addr:   "127.0.0.1:6379",
		Dialer: func(ctx context.Context, _, _ string) (net.Conn, error) { return srv.Dial(ctx) },
	})
}

// BenchmarkGoRedisOverLoopback measures the same over a socket.
func BenchmarkGoRedisOverLoopback(b *testing.B) {
	srv := lockredis.New(lockredis.Config{})
	if err := srv.Start(); err != nil {
		b.Fatal(err)
	}
	defer srv.Close()
	benchmarkSets(b, &redis.Options{Addr: srv.Addr()})
}

func benchmarkSets(b *testing.B, opts *redis.Options) {
	opts.MaintNotificationsConfig = &maintnotifications.Config{
		Mode: maintnotifications.ModeDisabled,
	}
	rdb := redis.NewClient(opts)
	defer rdb.Close()
	for b.Loop() {
		if err := rdb.Set(b.Context(), "k", "v", 0).Err(); err != nil {
			b.Fatal(err)
		}
	}
}
