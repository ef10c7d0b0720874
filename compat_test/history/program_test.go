package history

import (
	"fmt"
	"strings"
	"time"

	"pgregory.net/rapid"
)

// program is the steps of the workers of some clients.
type program struct {
	clients int
	workers []worker
}

// worker is a goroutine of one client.
type worker struct {
	client int
	steps  []step
}

// step is one action of a worker. Fields that its kind does not use are ignored.
type step struct {
	do    string
	wait  time.Duration
	lease time.Duration // 0: the watchdog's
	pause time.Duration
	n     int
}

// The steps that every kind has.
const (
	doTake    = "take"
	doGiveUp  = "take-or-leave" // with a context that ends after pause
	doGive    = "give"
	doBlind   = "give-blindly" // with a context that has ended
	doForce   = "force"
	doCount   = "count"
	doLocked  = "locked"
	doPause   = "pause"
	doCut     = "cut"
	doCrash   = "crash"
	doAdd     = "add"
	doSet     = "set"
	doDrain   = "drain"
	doUpdate  = "update"
	doSingly  = "take-one" // one part of a multi-lock
	doGiveOne = "give-one"
	doRead    = "read"
	doUnread  = "unread"
)

func (s step) String() string {
	return fmt.Sprintf("%s(wait %v, lease %v, pause %v, n %d)", s.do, s.wait, s.lease, s.pause, s.n)
}

func (p program) String() string {
	var b strings.Builder
	for i, w := range p.workers {
		fmt.Fprintf(&b, "  worker %d of client %d:\n", i, w.client)
		for _, s := range w.steps {
			fmt.Fprintf(&b, "    %v\n", s)
		}
	}
	return b.String()
}

// weights says how often each step of a kind is generated.
type weights map[string]int

// lockWeights are the weights for locks.
func lockWeights() weights {
	return weights{doTake: 10, doGive: 8, doPause: 6, doGiveUp: 2, doBlind: 1, doForce: 1,
		doUpdate: 2, doCount: 1, doLocked: 1, doCut: 1, doCrash: 1}
}

// programs generates programs. Times are chosen so that leases end during waits and
// pauses, and pauses end during leases.
func programs(w weights) *rapid.Generator[program] {
	var names []string
	for _, name := range allSteps() {
		for range w[name] {
			names = append(names, name)
		}
	}
	millis := func(choices ...int) *rapid.Generator[time.Duration] {
		return rapid.Map(rapid.SampledFrom(choices), func(n int) time.Duration {
			return time.Duration(n) * time.Millisecond
		})
	}
	steps := rapid.Custom(func(t *rapid.T) step {
		return step{
			do:    rapid.SampledFrom(names).Draw(t, "do"),
			wait:  millis(0, 0, 5, 30, 80).Draw(t, "wait"),
			lease: millis(0, 10, 25, 25, 70).Draw(t, "lease"),
			pause: millis(0, 1, 5, 15, 40).Draw(t, "pause"),
			n:     rapid.IntRange(1, 3).Draw(t, "n"),
		}
	})
	return rapid.Custom(func(t *rapid.T) program {
		p := program{clients: rapid.IntRange(1, 3).Draw(t, "clients")}
		for range rapid.IntRange(2, 4).Draw(t, "workers") {
			p.workers = append(p.workers, worker{
				client: rapid.IntRange(0, p.clients-1).Draw(t, "client"),
				steps:  rapid.SliceOfN(steps, 3, 9).Draw(t, "steps"),
			})
		}
		return p
	})
}

// allSteps has all steps in a fixed order, so that a seed keeps its meaning.
func allSteps() []string {
	return []string{
		doTake, doGiveUp, doGive, doBlind, doForce, doCount, doLocked, doPause, doCut, doCrash,
		doAdd, doSet, doDrain, doUpdate, doSingly, doGiveOne, doRead, doUnread,
	}
}
