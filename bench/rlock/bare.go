package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/redis/go-redis/v9"
)

// bare sends rlock's commands for a lock and unlock through plain go-redis. It is the
// least work for a lock in Redisson's layout with a latch.
type bare struct {
	rdb          *redis.Client
	lock, unlock template
	pairs        atomic.Int64

	mu      sync.Mutex // guards latches
	latches []string   // latches to delete; one command deletes many, as in rlock
}

// template is an EVALSHA command for the lock named recorded.
type template struct {
	args []any
	// Indexes of the lock's name, its channel and its latch in args; 0 for none.
	lock, channel, latch int
}

// recorded is the name of the lock in the commands that record keeps.
const recorded = "recorded"

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
	var sent recorder
	rdb.AddHook(&sent)
	// rlock sends part of its commands through a copy of a *redis.Client, and a copy has
	// no hooks. It does not copy a type that embeds one.
	c := rlockOn(struct{ *redis.Client }{rdb})
	defer c.close()
	for range 2 { // the first lock and unlock may be sent as EVAL
		sent.forget()
		if err := lockAndUnlock(context.Background(), c, recorded, 1); err != nil {
			return err
		}
	}
	scripts := sent.scripts()
	if len(scripts) != 2 {
		return fmt.Errorf("rlock sent %d scripts for a pair, not 2", len(scripts))
	}
	b.lock, b.unlock = newTemplate(scripts[0]), newTemplate(scripts[1])
	return nil
}

func newTemplate(args []any) template {
	t := template{args: args}
	for i, arg := range args {
		s, _ := arg.(string)
		_, rest, tagged := strings.Cut(s, "{"+recorded+"}")
		switch {
		case s == recorded:
			t.lock = i
		case tagged && rest == "":
			t.channel = i
		case tagged:
			t.latch = i
		}
	}
	return t
}

// command returns the command for the lock called name.
func (t template) command(ctx context.Context, name, latch string) *redis.Cmd {
	args := slices.Clone(t.args)
	args[t.lock] = name
	if t.channel > 0 {
		args[t.channel] = "redisson_lock__channel:{" + name + "}"
	}
	if t.latch > 0 {
		args[t.latch] = latch
	}
	return redis.NewCmd(ctx, args...)
}

func (b *bare) acquire(ctx context.Context, name string) (func(context.Context) error, error) {
	latch := "redisson_unlock_latch:{" + name + "}:" + strconv.FormatInt(b.pairs.Add(1), 16)
	err := b.rdb.Process(ctx, b.lock.command(ctx, name, latch))
	return func(ctx context.Context) error { return b.release(ctx, name, latch) }, err
}

func (b *bare) release(ctx context.Context, name, latch string) error {
	if err := b.rdb.Process(ctx, b.unlock.command(ctx, name, latch)); err != nil {
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

// recorder is a hook that keeps the arguments of single commands.
type recorder struct {
	mu       sync.Mutex // guards commands
	commands [][]any
}

func (r *recorder) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.commands = nil
}

// scripts returns the EVALSHA commands since forget.
func (r *recorder) scripts() [][]any {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(r.commands), func(args []any) bool {
		return args[0] != "evalsha"
	})
}

func (*recorder) DialHook(next redis.DialHook) redis.DialHook { return next }

func (*recorder) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (r *recorder) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		r.mu.Lock()
		r.commands = append(r.commands, slices.Clone(cmd.Args()))
		r.mu.Unlock()
		return next(ctx, cmd)
	}
}
