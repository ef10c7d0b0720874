package history

import (
	"strings"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/lockredis/lockredis/internal/redistest"
)

// TestEachModelCatchesABrokenKind lets a client that is not in the history break the
// guarantees of each kind. Some history must show it soon.
func TestEachModelCatchesABrokenKind(t *testing.T) {
	redistest.SkipWhenQuick(t)
	for _, k := range kinds() {
		generator := programs(k.weights)
		for how, sabotage := range k.sabotages {
			t.Run(k.name+" "+how, func(t *testing.T) {
				for seed := range 300 {
					program := generator.Example(seed)
					result, _ := verdict(t, setting{sabotage: sabotage}, k, program)
					if result == porcupine.Illegal {
						t.Logf("caught with program %d", seed)
						return
					}
				}
				t.Fatal("no history shows it")
			})
		}
	}
}

// row returns an operation for histories written by hand. It runs from one millisecond
// to another.
func row(id, owner int, what verb, r result, from, to int, more ...func(*op)) *op {
	at := func(ms int) stamp { return stamp(0).plus(time.Duration(ms) * time.Millisecond) }
	o := &op{ID: id, Owner: owner, What: what, Result: r, Call: at(from), Return: at(to)}
	for _, f := range more {
		f(o)
	}
	return o
}

func of(id int) func(*op)      { return func(o *op) { o.Of = id } }
func n(n int) func(*op)        { return func(o *op) { o.N = n } }
func token(n int64) func(*op)  { return func(o *op) { o.Token = n } }
func reads(o *op)              { o.Mode = read }
func writes(o *op)             { o.Mode = write }
func contends(o *op)           { o.Contended = true }
func history(ops ...*op) []*op { return ops }

func TestTheModelsKnowRightFromWrong(t *testing.T) {
	leased := func(second ...*op) []*op { // a lease of 10 ms from 0 on
		return append(history(row(1, 1, acquire, ok, 0, 1), row(2, 1, end, "", 10, 11, of(1))), second...)
	}
	queue := history(
		row(1, 1, acquire, ok, 0, 1), row(2, 2, ask, "", 2, 3, contends),
		row(3, 3, ask, "", 4, 5, contends), row(4, 1, release, ok, 6, 7),
	)
	rate := history(row(1, 1, set, ok, 0, 1, n(2)), row(2, 1, acquire, ok, 2, 3, n(2)),
		row(3, 1, end, "", 12, 13, of(2)))
	for _, c := range []struct {
		name  string
		model checker
		ops   []*op
		right bool
	}{
		{"lock: one after the other", lockModel(), history(row(1, 1, acquire, ok, 0, 1), row(2, 1, release, ok, 2, 3), row(3, 2, acquire, ok, 4, 5)), true},
		{"lock: two at once", lockModel(), history(row(1, 1, acquire, ok, 0, 1), row(2, 2, acquire, ok, 2, 3)), false},
		{"lock: refused though free", lockModel(), history(row(1, 1, acquire, refused, 0, 1)), false},
		{"lock: counted wrongly", lockModel(), history(row(1, 1, acquire, ok, 0, 1), row(2, 1, acquire, ok, 2, 3), row(3, 1, count, ok, 4, 5, n(1))), false},
		{"lock: another's after the lease", lockModel(), leased(row(3, 2, acquire, ok, 9, 12)), true},
		{"lock: another's before the end of the lease", lockModel(), leased(row(3, 2, acquire, ok, 5, 9)), false},
		{"lock: refused after the lease", lockModel(), leased(row(3, 2, acquire, refused, 12, 13)), false},
		{"lock: lost before the end of the lease", lockModel(), leased(row(3, 1, release, lost, 5, 6)), false},
		{"lock: a leftover", lockModel(), history(row(1, 1, acquire, unknown, 0, 9), row(2, 1, undo, "", 0, 9, of(1)), row(3, 2, acquire, refused, 10, 11)), false},
		{"fenced: tokens grow", lockModel(), history(row(1, 1, acquire, ok, 0, 1, token(1)), row(2, 1, release, ok, 2, 3), row(3, 2, acquire, ok, 4, 5, token(3))), true},
		{"fenced: a token comes again", lockModel(), history(row(1, 1, acquire, ok, 0, 1, token(2)), row(2, 1, release, ok, 2, 3), row(3, 2, acquire, ok, 4, 5, token(2))), false},
		{"multi: a part is refused for a moment", lockModel(), history(row(1, 1, begin, "", 0, 5), row(2, 1, finish, "", 0, 5), row(3, 2, acquire, refused, 1, 2)), true},
		{"multi: a part is refused for longer", lockModel(), history(row(1, 1, begin, "", 0, 5), row(2, 1, finish, "", 0, 5), row(3, 2, acquire, refused, 6, 7)), false},
		{"fair: in order", fairModel(), append(queue, row(5, 2, acquire, ok, 2, 9, of(2)), row(6, 2, release, ok, 10, 11), row(7, 3, acquire, ok, 4, 13, of(3))), true},
		{"fair: the second is first", fairModel(), append(queue, row(7, 3, acquire, ok, 4, 9, of(3)), row(6, 3, release, ok, 10, 11), row(5, 2, acquire, ok, 2, 13, of(2))), false},
		{"rw: two readers", rwModel(), history(row(1, 1, acquire, ok, 0, 1, reads), row(2, 2, acquire, ok, 2, 3, reads)), true},
		{"rw: a writer among readers", rwModel(), history(row(1, 1, acquire, ok, 0, 1, reads), row(2, 2, acquire, ok, 2, 3, writes)), false},
		{"rw: a reader beside the writer", rwModel(), history(row(1, 1, acquire, ok, 0, 1, writes), row(2, 2, acquire, ok, 2, 3, reads)), false},
		{"rw: a writer reads", rwModel(), history(row(1, 1, acquire, ok, 0, 1, writes), row(2, 1, acquire, ok, 2, 3, reads), row(3, 1, release, ok, 4, 5, writes), row(4, 2, acquire, ok, 6, 7, reads)), true},
		{"rw: a writer before the last reader's end", rwModel(), history(row(1, 1, acquire, ok, 0, 1, reads), row(2, 1, end, "", 10, 11, of(1), reads),
			row(3, 2, acquire, ok, 0, 1, reads), row(4, 2, end, "", 20, 21, of(3), reads), row(5, 3, acquire, ok, 12, 13, writes)), false},
		{"semaphore: too many", permitsModel(), append(rate[:2:2], row(4, 2, acquire, ok, 4, 5, n(1))), false},
		{"permit: released twice", permitsModel(), append(rate[:2:2], row(4, 1, release, ok, 4, 5, of(2)), row(5, 1, release, ok, 6, 7, of(2))), false},
		{"rate: again after the interval", permitsModel(), append(rate, row(4, 2, acquire, ok, 4, 15, n(1))), true},
		{"rate: again before it", permitsModel(), append(rate, row(4, 2, acquire, ok, 4, 9, n(1))), false},
		{"latch: open before zero", latchModel(), history(row(1, 1, set, ok, 0, 1, n(2)), row(2, 1, release, ok, 2, 3), row(3, 2, acquire, ok, 0, 5), row(4, 2, acquire, ok, 6, 7)), false},
		{"latch: open at zero", latchModel(), history(row(1, 1, set, ok, 0, 1, n(1)), row(2, 2, acquire, ok, 2, 9), row(3, 1, release, ok, 4, 5)), true},
	} {
		got, why := c.model.check(c.ops, time.Minute)
		want := porcupine.Illegal
		if c.right {
			want = porcupine.Ok
		}
		if got != want {
			t.Errorf("%s: %s\n%s", c.name, got, strings.TrimSpace(why))
		}
	}
}
