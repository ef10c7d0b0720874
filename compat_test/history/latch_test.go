package history

import (
	"context"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/rlock"
)

// latchModel is a count.
func latchModel() model[int] {
	return model[int]{step: func(s int, o *op) []int {
		switch o.What {
		case set:
			if o.Result == refused {
				return when(s > 0, s)
			}
			return maybe(o, s == 0, s, o.N)
		case release:
			return maybe(o, true, s, max(s-1, 0))
		case acquire:
			if o.Result == ok {
				return when(s == 0, s)
			}
			return when(s > 0, s)
		case count:
			return when(o.N == s, s)
		}
		return []int{s}
	}}
}

func latchKind() kind {
	return kind{
		name: "latch", model: latchModel(),
		weights: weights{doSet: 6, doGive: 8, doTake: 6, doGiveUp: 2, doBlind: 1, doCount: 3,
			doPause: 5, doCut: 1, doCrash: 1},
		actor: func(c *client) actor { return &latcher{c.permitter()} },
		// Whatever the count is, it becomes zero.
		probe: func(c *client) {
			a := &latcher{c.permitter()}
			for range 3 {
				a.do(step{do: doGive})
			}
			a.do(step{do: doCount})
			a.do(step{do: doTake})
		},
		sabotages: map[string]sabotage{
			"opens": func(ctx context.Context, rdb *redis.Client, name string) { rdb.Del(ctx, name) },
		},
	}
}

// latcher is a worker with a latch.
type latcher struct{ p *permitter }

func (a *latcher) do(s step) {
	ctx := context.Background()
	l := a.p.c.c.CountDownLatch(a.p.c.w.names)
	switch s.do {
	case doSet:
		o := a.p.begin(set, s.n)
		done, err := l.TrySetCount(ctx, s.n)
		if a.p.end(o, err) == ok && !done {
			o.Result = refused
		}
	case doBlind:
		ctx, cancel := context.WithCancel(ctx)
		cancel()
		a.p.end(a.p.begin(release, 0), l.CountDown(ctx))
	case doGive:
		o := a.p.begin(release, 0)
		a.p.end(o, l.CountDown(ctx))
	case doCount:
		o := a.p.begin(count, 0)
		var err error
		if o.N, err = l.Count(ctx); err == nil {
			a.p.end(o, nil)
		}
	case doTake, doGiveUp:
		o := a.p.begin(acquire, 0)
		if err := l.Await(ctx, rlock.Wait(s.wait)); resultOf(err) == ok || resultOf(err) == refused &&
			!a.p.c.slow() {
			a.p.end(o, err)
		}
	}
}
