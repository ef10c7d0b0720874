package simulation

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockredis/lockredis/internal/redistest"
	"go.uber.org/goleak"
)

// scriptsOfRlock returns rlock's scripts, read once. The caller may change the result.
var scriptsOfRlock = func() func() map[string]script {
	read := sync.OnceValue(func() map[string]script {
		scripts, err := rlockScripts("../../rlock/internal/scripts/lua")
		if err != nil {
			panic(err)
		}
		return scripts
	})
	return func() map[string]script { return maps.Clone(read()) }
}()

// The number of steps of a world, and the number of worlds in a plain go test.
const (
	course  = 50_000
	courses = 2
	// patience is how long a failure is shrunk.
	patience = 20 * time.Second
)

// setting returns a number from an environment variable.
func setting(t *testing.T, name string, otherwise uint64) uint64 {
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

func TestTheInvariantsHold(t *testing.T) {
	first := setting(t, "LOCKREDIS_SIMULATION_SEED", 1)
	if text := os.Getenv("LOCKREDIS_SIMULATION_STEPS"); text != "" {
		steps, err := readSteps(text)
		if err != nil {
			t.Fatal(err)
		}
		p := plan{seed: first}
		if r := p.replay(steps); r.broken != nil {
			p.report(t, r, 0)
		}
		return
	}
	plain := uint64(courses * course)
	if !redistest.Whole() {
		plain /= 5
	}
	left := int(setting(t, "LOCKREDIS_SIMULATION", plain))
	total := map[string]int{}
	for seed := first; left > 0; seed++ {
		p := plan{seed: seed}
		r := p.generate(min(left, course))
		left -= course
		if r.broken != nil {
			p.report(t, r, patience)
			return
		}
		if done := (seed - first + 1) * course; done%1_000_000 == 0 {
			t.Logf("%d steps", done)
		}
		for what, n := range r.stats {
			total[what] += n
		}
	}
	t.Logf("%v", total)
}

// report shrinks a failure, for at most patience, and prints how to repeat it.
func (p plan) report(t *testing.T, r result, patience time.Duration) {
	t.Helper()
	from := len(r.steps)
	t.Logf("seed %d, %d steps: %s", p.seed, from, r.broken)
	r = p.shrink(r, patience)
	var story strings.Builder
	p.tell = func(format string, args ...any) { fmt.Fprintf(&story, format+"\n", args...) }
	p.replay(r.steps)
	text := story.String()
	if most := 20_000; len(text) > most {
		text = "…" + text[len(text)-most:]
	}
	again := fmt.Sprintf("LOCKREDIS_SIMULATION_SEED=%d LOCKREDIS_SIMULATION_STEPS=%s", p.seed,
		written(r.steps))
	if len(r.steps) > 500 {
		again = fmt.Sprintf("LOCKREDIS_SIMULATION_SEED=%d LOCKREDIS_SIMULATION=%d", p.seed, course)
	}
	t.Errorf("seed %d, %d steps, shrunk to %d: %s\n%s%s\nreplay:\n"+
		"  %s go test ./compat_test/simulation -run 'TestTheInvariantsHold$' -count=1",
		p.seed, from, len(r.steps), r.broken, text, r.log, again)
}

// A course of this length meets each of them a few times, or a rare one not at all.
func TestEveryKindAndEveryFaultIsMet(t *testing.T) {
	missing := []string{
		"lock granted", "lock refused", "lock waits", "spin granted", "fenced granted",
		"fair granted", "rw granted", "rw waits",
		"multi granted", "served in turn", "passed over", "deadline lowered", "woken", "waited in vain", "renewed",
		"renewed late", "lease lost",
		"granted too late", "unlocked", "unlocked twice", "unlocked by force", "paused", "crashed",
		"request of a crashed client", "request after its time", "refused a claim that is over",
		"entered again", "undone", "left the queue", "lease set", "renewal overtaken",
		"verified", "semaphore undone", "permit renewed", "permit undone", "rate undone", "rate sealed",
		"semaphore granted", "semaphore released", "permit granted", "permit swept",
		"permit released", "latch opened", "rate granted", "rate refused",
		"request lost", "request late", "request arrived twice", "reply lost", "reply late",
		"given up", "messages lost", "reconnected",
		"noscript", "scripts flushed", "expired", "expiry switched", "clock set back",
		"probe of an expired key", "probe of a live key",
	}
	for seed := uint64(9); seed < 15 && len(missing) > 0; seed++ {
		met := plan{seed: seed}.generate(50_000).stats
		missing = slices.DeleteFunc(missing, func(what string) bool { return met[what] > 0 })
	}
	for _, what := range missing {
		t.Errorf("never met: %s", what)
	}
}

func TestTheSameSeedTakesTheSameCourse(t *testing.T) {
	p := plan{seed: 42}
	a, b := p.generate(3000), p.generate(3000)
	c := p.replay(a.steps)
	d := plan{seed: 43}.generate(3000)
	if a.sum != b.sum || a.sum != c.sum || a.sum == d.sum {
		t.Errorf("checksums %x, %x and, replayed, %x of one seed; %x of another", a.sum, b.sum, c.sum,
			d.sum)
	}
}

func TestStepsAreReadAsTheyAreWritten(t *testing.T) {
	steps := []step{{1, 2}, {theClock, 0xffffffff}, {theAudit, 0}}
	read, err := readSteps(written(steps))
	if err != nil || fmt.Sprint(read) != fmt.Sprint(steps) {
		t.Fatal(read, err)
	}
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
