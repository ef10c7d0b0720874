package lockredistest_test

import (
	"runtime"
	"testing"

	"github.com/lockredis/lockredis/lockredistest"
)

// use starts a server, stores a key and closes the server.
func use(t testing.TB, opts ...lockredistest.Option) {
	srv, err := lockredistest.Run(opts...)
	if err != nil {
		t.Fatal(err)
	}
	if err := srv.Set("k", "v"); err != nil {
		t.Fatal(err)
	}
	if err := srv.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestAServerForEachTestIsCheap has limits on memory, not on time. What the servers of a process
// have in common is made for the first one.
func TestAServerForEachTestIsCheap(t *testing.T) {
	for name, c := range map[string]struct {
		options        []lockredistest.Option
		bytes, mallocs uint64
	}{
		"no options": {nil, 60_000, 300},
		"all databases": {[]lockredistest.Option{
			lockredistest.Directive("databases", "2147483647"), lockredistest.LockKeys("lock:*"),
		}, 60_000, 300},
		"a cluster": {[]lockredistest.Option{lockredistest.Cluster()}, 400_000, 300},
	} {
		use(t, c.options...)
		const n = 20
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range n {
			use(t, c.options...)
		}
		runtime.ReadMemStats(&after)
		bytes := (after.TotalAlloc - before.TotalAlloc) / n
		mallocs := (after.Mallocs - before.Mallocs) / n
		t.Logf("%s: %d bytes in %d allocations", name, bytes, mallocs)
		if bytes > c.bytes || mallocs > c.mallocs {
			t.Errorf("%s: %d bytes in %d allocations, want at most %d in %d", name, bytes, mallocs,
				c.bytes, c.mallocs)
		}
	}
}

func BenchmarkServer(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		use(b)
	}
}
