package lockredistest_test

import (
	"net"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/lockredistest"
)

func TestEachServerBeginsEmptyAndIsReachedInMemory(t *testing.T) {
	one, other := lockredistest.RunT(t), lockredistest.RunT(t)
	if err := one.Client().Set(t.Context(), "k", "v", 0).Err(); err != nil {
		t.Fatal(err)
	}
	if v, err := one.Get("k"); v != "v" || err != nil {
		t.Fatalf("%q, %v", v, err)
	}
	if other.Exists("k") {
		t.Fatal("servers share keys")
	}
}

func TestAddrOpensOnePort(t *testing.T) {
	srv := lockredistest.RunT(t)
	srv.Set("k", "v")
	first, again := srv.Addr(), srv.Addr()
	if first != again || !strings.HasPrefix(first, "127.0.0.1:") {
		t.Fatalf("%s, then %s", first, again)
	}
	rdb := redis.NewClient(&redis.Options{Addr: first})
	defer rdb.Close()
	if v, err := rdb.Get(t.Context(), "k").Result(); v != "v" || err != nil {
		t.Fatalf("%q, %v", v, err)
	}
}

func TestListenOpensAPortAtTheStart(t *testing.T) {
	srv := lockredistest.RunT(t, lockredistest.Listen("127.0.0.1:0"))
	nc, err := net.Dial("tcp", srv.Addr())
	if err != nil {
		t.Fatal(err)
	}
	nc.Close()
}

func TestAPasswordIsRequiredAndInOptions(t *testing.T) {
	srv := lockredistest.RunT(t, lockredistest.Password("secret"))
	if err := srv.Client().Ping(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	opts := srv.Options()
	opts.Password = ""
	rdb := redis.NewClient(opts)
	defer rdb.Close()
	if err := rdb.Ping(t.Context()).Err(); err == nil {
		t.Fatal("a client without the password may run commands")
	}
}

func TestAWrongDirectiveEndsTheTest(t *testing.T) {
	rec := &recorder{TB: t}
	rec.stops(t, func() { lockredistest.RunT(rec, lockredistest.Directive("nonsense", "1")) })
	if text := rec.end(); !strings.Contains(text, "nonsense") {
		t.Fatal(text)
	}
}

func TestADirectiveIsSet(t *testing.T) {
	srv := lockredistest.RunT(t, lockredistest.Directive("notify-keyspace-events", "Ex"))
	reply, err := srv.Do("CONFIG", "GET", "notify-keyspace-events")
	want := map[string]any{"notify-keyspace-events": "xE"}
	if err != nil || !reflect.DeepEqual(reply, want) {
		t.Fatalf("%#v, %v", reply, err)
	}
}

func TestDialToAClosedServerFails(t *testing.T) {
	rec := &recorder{TB: t}
	srv := lockredistest.RunT(rec)
	nc, err := srv.Dial(t.Context(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	if text := rec.end(); text != "" {
		t.Fatal(text)
	}
	nc.SetReadDeadline(time.Now().Add(10 * time.Second))
	if _, err := nc.Read(make([]byte, 1)); err == nil {
		t.Fatal("the connection outlived its server")
	}
	if _, err := srv.Dial(t.Context(), "", ""); err == nil {
		t.Fatal("dialled a closed server")
	}
}

func TestGoRedisRunsALongPipeline(t *testing.T) {
	srv := lockredistest.RunT(t)
	pipe := srv.Client().Pipeline()
	const n = 10000
	for range n {
		pipe.Incr(t.Context(), "n")
	}
	if _, err := pipe.Exec(t.Context()); err != nil {
		t.Fatal(err)
	}
	if v, _ := srv.Get("n"); v != "10000" {
		t.Fatal(v)
	}
}
