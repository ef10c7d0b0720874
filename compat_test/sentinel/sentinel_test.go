package sentinel

import (
	"flag"
	"fmt"
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
			if real {
				t.Parallel()
				playInRealTime(t, path)
				return
			}
			synctest.Test(t, func(t *testing.T) {
				for _, difference := range play(t, newOwnWorld(t), path, t.TempDir()) {
					t.Error(difference)
				}
			})
		})
	}
}

// playInRealTime plays one file with redis-sentinel. When the machine stalls, a fake answers
// too late and redis-sentinel reports other events. So a file with differences is played
// again: what is wrong in the file differs each time.
func playInRealTime(t *testing.T, path string) {
	const attempts = 5
	for i := 1; ; i++ {
		differences := play(t, redisWorld{t}, path, t.TempDir())
		if len(differences) == 0 {
			return
		}
		for _, difference := range differences {
			if i < attempts {
				t.Log(difference)
			} else {
				t.Error(difference)
			}
		}
		if i == attempts {
			return
		}
	}
}

// play plays one file and returns what differs. After a directive that fails it plays no
// more.
func play(t *testing.T, w world, path, dir string) (differences []string) {
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
			differences = append(differences, fmt.Sprintf("%s: %v", d.Pos, err))
			over = true
		case !d.Rewrite && got != d.Expected:
			differences = append(differences,
				fmt.Sprintf("%s: %s\nwant %s\ngot  %s", d.Pos, d.Input, d.Expected, got))
		}
		if d.Rewrite {
			return got
		}
		return d.Expected
	})
	return differences
}
