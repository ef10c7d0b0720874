package main

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/rlock"
)

// bare sends the commands that rlock sends for a lock and unlock, with go-redis and
// nothing around it. No library can lock in Redisson's layout, with a latch, with less
// work.
type bare struct {
	rdb          *redis.Client
	lock, unlock []any // the EVALSHA commands for the lock named recorded
	releases     atomic.Int64

	mu      sync.Mutex // guards latches
	latches []string   // latches to delete, many in one command as in rlock
}

// recorded is the name of the lock whose commands are recorded.
const recorded = "recorded"

// Indexes of the lock's name, its channel and its latch in a command. See rlock's
// plain.go.
const (
	lockArg    = 3
	channelArg = 4
	latchArg   = 5
)

// manyLatches is how many latches one command deletes.
const manyLatches = 200

func openBare(addr string) (client, error) {
	b := &bare{rdb: redis.NewClient(&redis.Options{Addr: addr})}
	if err := b.record(addr); err != nil {
		return client{}, err
	}
	return client{b.acquire, func() { b.rdb.Close() }}, nil
}

// record makes rlock lock and unlock once on a client that records its commands.
func (b *bare) record(addr string) error {
	rdb := redis.NewClient(&redis.Options{Addr: addr})
	defer rdb.Close()
	var sent recorder
	rdb.AddHook(&sent)
	c := rlock.New(rdb, rlock.Options{Lease: lease})
	defer c.Close()
	ctx, l := context.Background(), c.Lock(recorded)
	for range 2 { // the first lock and unlock may be sent as EVAL
		sent.commands = nil
		if err := l.Lock(ctx); err != nil {
			return err
		}
		if err := l.Unlock(ctx); err != nil {
			return err
		}
	}
	b.lock, b.unlock = sent.commands[0], sent.commands[1]
	return nil
}

func (b *bare) acquire(ctx context.Context, name string) (func(context.Context) error, error) {
	lock := slices.Clone(b.lock)
	lock[lockArg] = name
	err := b.rdb.Process(ctx, redis.NewCmd(ctx, lock...))
	return func(ctx context.Context) error { return b.release(ctx, name) }, err
}

func (b *bare) release(ctx context.Context, name string) error {
	unlock := slices.Clone(b.unlock)
	latch := "redisson_unlock_latch:{" + name + "}:" + strconv.FormatInt(b.releases.Add(1), 16)
	unlock[lockArg], unlock[channelArg], unlock[latchArg] = name, "redisson_lock__channel:{"+name+"}",
		latch
	if err := b.rdb.Process(ctx, redis.NewCmd(ctx, unlock...)); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.latches = append(b.latches, latch); len(b.latches) < manyLatches {
		return nil
	}
	latches := b.latches
	b.latches = nil
	return b.rdb.Del(ctx, latches...).Err()
}

// recorder is a hook that keeps the arguments of single commands. Only one goroutine
// sends commands.
type recorder struct{ commands [][]any }

func (*recorder) DialHook(next redis.DialHook) redis.DialHook { return next }

func (*recorder) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (r *recorder) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		r.commands = append(r.commands, slices.Clone(cmd.Args()))
		return next(ctx, cmd)
	}
}
