package sentinel

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/cockroachdb/datadriven"

	"github.com/lockredis/lockredis/internal/redistest"
)

// TestScenariosPlayAsRecorded plays every file of testdata. LOCKREDIS_VECTORS chooses the
// Sentinel, as in compat_test: empty means lockredis's, in virtual time; "record" (together
// with -rewrite) and "recheck" mean redis-sentinel.
func TestScenariosPlayAsRecorded(t *testing.T) {
	mode := os.Getenv("LOCKREDIS_VECTORS")
	rewrite := flag.Lookup("rewrite").Value.String() == "true"
	if rewrite != (mode == "record") {
		t.Fatal("recording needs both LOCKREDIS_VECTORS=record and -rewrite")
	}
	real := mode == "record" || mode == "recheck"
	if _, err := redistest.Program(); real && err != nil {
		t.Fatal(err)
	}
	if mode != "" && !real {
		t.Skip("a server by itself has no Sentinel")
	}
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no scenarios", err)
	}
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			dir := t.TempDir()
			if real {
				t.Parallel()
				play(t, redisWorld{t}, path, dir)
				return
			}
			synctest.Test(t, func(t *testing.T) { play(t, newOwnWorld(t), path, dir) })
		})
	}
}

// play plays one file. After a directive that fails it plays no more.
func play(t *testing.T, w world, path, dir string) {
	p := newPlayer(t, w, dir)
	defer p.close()
	over := false
	datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
		if over {
			return d.Expected
		}
		got, err := p.run(d)
		switch {
		case err != nil && d.Rewrite:
			t.Fatalf("%s: %v", d.Pos, err)
		case err != nil:
			t.Errorf("%s: %v", d.Pos, err)
			over = true
		case !d.Rewrite && got != d.Expected:
			t.Errorf("%s: %s\nwant %s\ngot  %s", d.Pos, d.Input, d.Expected, got)
		}
		if d.Rewrite {
			return got
		}
		return d.Expected
	})
}
