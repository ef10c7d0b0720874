package luaexec

import (
	"runtime"
	"testing"

	"github.com/lockredis/lockredis/internal/redistest"
	"github.com/lockredis/lockredis/resp"
)

// bulkCaller answers each command with a new string of that many bytes.
type bulkCaller struct {
	cannedCaller
	size int
}

func (c *bulkCaller) Command(resp.Args) resp.Reply { return resp.Bulk(make([]byte, c.size)) }

// heapInUse collects garbage. An object of heapWatch.arm needs a collection, its finalizer,
// and a second collection.
func heapInUse() int64 {
	for range 3 {
		ran := make(chan struct{})
		runtime.SetFinalizer(&struct{ p *int }{}, func(any) { close(ran) })
		runtime.GC()
		<-ran
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// keepsNothing checks that runs with large arguments keep none of them.
func keepsNothing(t *testing.T, body string, run func(arg []byte)) {
	t.Helper()
	const large, kept = 8 << 20, 512 << 10
	run([]byte("x"))
	before := heapInUse()
	for range 20 {
		run(make([]byte, large/10))
	}
	run(make([]byte, large))
	if n := heapInUse() - before; n > kept {
		t.Errorf("%s: %d bytes are kept", body, n)
	}
}

func TestARunKeepsNoneOfItsStrings(t *testing.T) {
	redistest.SkipUnlessWhole(t)
	for _, body := range []string{
		"return 1",
		"return #ARGV[1]",
		"return #KEYS[1]",
		"return ARGV[1]",
		"local s = ARGV[1] .. 'x' return 1",
		"redis.call('SET', ARGV[1], ARGV[1]) return 1",
		"return redis.call('GET', 'k')",
		"local t = {ARGV[1]} return t",
		"error(ARGV[1])",
		"return redis.error_reply(ARGV[1])",
	} {
		r := New(Options{})
		c := &bulkCaller{size: 300 << 10}
		run := func(arg []byte) {
			s, failure, ok := r.Load([]byte(body))
			if !ok {
				t.Fatal(failure.Text())
			}
			r.Run(s, [][]byte{arg}, [][]byte{arg}, c)
		}
		keepsNothing(t, body, run)
		runtime.KeepAlive(r)
	}
}

// A run this small does not end its Lua state.
func TestRegistersAboveACallKeepNoStrings(t *testing.T) {
	r := New(Options{})
	s, failure, ok := r.Load([]byte("local t = {1, 2, 3, ARGV[1] .. 'x'} t = nil redis.call('PING') return 1"))
	if !ok {
		t.Fatal(failure.Text())
	}
	run := func(arg []byte) { r.Run(s, nil, [][]byte{arg}, &bulkCaller{}) }
	run([]byte("x"))
	before := heapInUse()
	const size = 512 << 10
	run(make([]byte, size))
	if n := heapInUse() - before; n > size/2 {
		t.Errorf("%d bytes are kept", n)
	}
	runtime.KeepAlive(r)
}

func TestAFunctionKeepsNoneOfItsStrings(t *testing.T) {
	redistest.SkipUnlessWhole(t)
	for _, body := range []string{
		"return #argv[1]",
		"for i = 1, 2 do end return #keys[1]",
		"for i = 1, 2 do end return argv[1]",
		"for i = 1, 2 do redis.call('GET', argv[1]) end return 1",
	} {
		r := New(Options{})
		library := "#!lua name=l\nredis.register_function('f', function(keys, argv) " + body + " end)"
		if _, failure, ok := r.LoadLibrary([]byte(library), false, &cannedCaller{}); !ok {
			t.Fatal(failure.Text())
		}
		f, _ := r.Function([]byte("f"))
		run := func(arg []byte) {
			r.RunFunction(f, [][]byte{arg}, [][]byte{arg}, &bulkCaller{size: 300 << 10})
		}
		keepsNothing(t, body, run)
		runtime.KeepAlive(r)
	}
}
