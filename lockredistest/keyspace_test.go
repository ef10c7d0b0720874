package lockredistest_test

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/lockredis/lockredis/lockredistest"
)

// check compares a getter's results with the expected ones.
func check(t *testing.T, what string, got, want any, err, wantErr error) {
	t.Helper()
	if !reflect.DeepEqual(got, want) || !errors.Is(err, wantErr) {
		t.Errorf("%s: %#v, %v; want %#v, %v", what, got, err, want, wantErr)
	}
}

func TestSettersAndGettersOfEachType(t *testing.T) {
	srv := lockredistest.RunT(t)
	check(t, "Set", nil, nil, srv.Set("s", "v"), nil)
	v, err := srv.Get("s")
	check(t, "Get", v, "v", err, nil)

	check(t, "HSet", nil, nil, srv.HSet("h", "f", "1", "e", "2"), nil)
	check(t, "HGet", srv.HGet("h", "f"), "1", nil, nil)
	check(t, "HGet of a missing field", srv.HGet("h", "g"), "", nil, nil)
	all, err := srv.HGetAll("h")
	check(t, "HGetAll", all, map[string]string{"f": "1", "e": "2"}, err, nil)
	_, err = srv.HGetAll("nope")
	check(t, "HGetAll of a missing key", nil, nil, err, lockredistest.ErrKeyNotFound)

	n, err := srv.Push("l", "b", "c")
	check(t, "Push", n, 2, err, nil)
	list, err := srv.List("l")
	check(t, "List", list, []string{"b", "c"}, err, nil)

	check(t, "Keys", srv.Keys(), []string{"h", "l", "s"}, nil, nil)
	check(t, "Del", srv.Del("l"), true, nil, nil)
	check(t, "Exists", srv.Exists("l"), false, nil, nil)
	srv.FlushAll()
	check(t, "Keys of an empty server", len(srv.Keys()), 0, nil, nil)
}

func TestErrorsAreTheServersTexts(t *testing.T) {
	srv := lockredistest.RunT(t)
	srv.HSet("h", "f", "v")
	const wrongType = "WRONGTYPE Operation against a key holding the wrong kind of value"
	_, err := srv.Get("h")
	check(t, "a hash as a string", nil, nil, err, lockredistest.Error(wrongType))
	_, err = srv.Push("h", "v")
	check(t, "a hash as a list", nil, nil, err, lockredistest.Error(wrongType))
	_, err = srv.Get("nope")
	check(t, "a missing key", nil, nil, err, lockredistest.ErrKeyNotFound)
	_, err = srv.Do("SET", "k")
	const arity = "ERR wrong number of arguments for 'set' command"
	check(t, "too few arguments", nil, nil, err, lockredistest.Error(arity))
	for _, refused := range [][]string{{"MULTI"}, {"SUBSCRIBE", "c"}, {"AUTH", "x"}, {"QUIT"}, {}} {
		if _, err := srv.Do(refused...); err == nil {
			t.Errorf("%v was run", refused)
		}
	}
}

func TestDoReturnsTheReply(t *testing.T) {
	srv := lockredistest.RunT(t)
	for _, c := range []struct {
		args []string
		want any
	}{
		{[]string{"SET", "k", "v"}, "OK"},
		{[]string{"GET", "nope"}, nil},
		{[]string{"EVAL", "return {1, 'a', false, {2}}", "0"}, []any{int64(1), "a", nil, []any{int64(2)}}},
		{[]string{"MGET", "k", "nope"}, []any{"v", nil}},
		{[]string{"BLPOP", "nope", "0"}, nil},
		{[]string{"PING"}, "PONG"},
		{[]string{"CLIENT", "LIST"}, ""},
		{[]string{"ZADD", "z", "1.5", "b"}, int64(1)},
		{[]string{"ZSCORE", "z", "b"}, 1.5},
		{[]string{"HGETALL", "nope"}, map[string]any{}},
	} {
		reply, err := srv.Do(c.args...)
		check(t, c.args[0], reply, c.want, err, nil)
	}
}

func TestDatabasesAreSeparate(t *testing.T) {
	srv := lockredistest.RunT(t)
	srv.DB(3).Set("k", "v")
	if srv.Exists("k") || !srv.DB(3).Exists("k") {
		t.Fatal("the key is in the wrong database")
	}
	srv.Set("k", "v")
	srv.DB(3).Do("FLUSHDB")
	if !srv.Exists("k") || srv.DB(3).Exists("k") {
		t.Fatal("the wrong database was flushed")
	}
}

func TestTTLsAreSetAndRemoved(t *testing.T) {
	srv := lockredistest.RunT(t, lockredistest.ManualClock())
	srv.Set("k", "v")
	check(t, "without", srv.TTL("k"), time.Duration(0), nil, nil)
	srv.SetTTL("k", 1500*time.Microsecond)
	check(t, "rounded up", srv.TTL("k"), 2*time.Millisecond, nil, nil)
	srv.SetTTL("k", 0)
	check(t, "removed", srv.TTL("k"), time.Duration(0), nil, nil)
	check(t, "of a missing key", srv.TTL("nope"), time.Duration(0), nil, nil)
}

func TestADirectWriteServesWaitersAndSubscribers(t *testing.T) {
	srv := lockredistest.RunT(t, lockredistest.Directive("notify-keyspace-events", "Kg$"))
	rdb := srv.Client()
	sub := rdb.Subscribe(t.Context(), "__keyspace@0__:k", "news")
	defer sub.Close()
	for range 2 {
		if _, err := sub.Receive(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	srv.Set("k", "v")
	if n := srv.Publish("news", "hello"); n != 1 {
		t.Fatalf("%d listeners", n)
	}
	for _, want := range []string{"set", "hello"} {
		if m, err := sub.ReceiveMessage(t.Context()); err != nil || m.Payload != want {
			t.Fatalf("%v, %v", m, err)
		}
	}
	served := make(chan string, 1)
	go func() {
		reply, _ := rdb.BLPop(t.Context(), 0, "q").Result()
		served <- reply[1]
	}()
	srv.Push("q", "e") // before or after: it is served
	if e := <-served; e != "e" {
		t.Fatal(e)
	}
}
