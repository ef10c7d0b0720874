//go:build linux

package main

import "time"

// The commands that Redisson sends for one lock after the other, with scripts of this
// bench: the same commands and keys.
const (
	ownerPrefix   = "6b0b5a3e-6f0e-4d4b-9d5c-0a4b7d5e1c2f:"
	owner         = ownerPrefix + "{conn}"
	channelPrefix = "redisson_lock__channel:"
	lockName      = "lock:{slot}"
	channel       = channelPrefix + "{lock:{slot}}"
	latch         = "redisson_unlock_latch:{lock:{slot}}:8f14e45fceea167a5a36dedd4bea2543"
	holds         = "{lock:{slot}}:" + owner + ":rwlock_timeout"
	lease         = "30000"
	latchTime     = "16000"

	null = "$-1\r\n"
	zero = ":0\r\n"
	one  = ":1\r\n"
)

func (s *server) script(name, keys string, args ...string) []string {
	return append([]string{"EVALSHA", s.shas[name], keys}, args...)
}

// lockSteps is the oldest form of a pair: two scripts.
func (s *server) lockSteps() []step {
	return []step{
		{s.script("lock", "1", lockName, lease, owner), null},
		{s.script("unlock", "2", lockName, channel, lease, owner), one},
	}
}

// dropLatch follows each unlock of Redisson 3.24 and later.
var dropLatch = step{[]string{"DEL", latch}, one}

func (s *server) latchSteps() []step {
	return []step{
		{s.script("lock", "1", lockName, lease, owner), null},
		{s.script("unlock_latch", "3", lockName, channel, latch, lease, owner, latchTime), one},
		dropLatch,
	}
}

func (s *server) fairSteps() []step {
	const queue, timeouts, clock = "redisson_lock_queue:{lock:{slot}}",
		"redisson_lock_timeout:{lock:{slot}}", "1767225600000"
	return []step{
		{s.script("fair_lock", "3", lockName, queue, timeouts, lease, owner, "300000", clock), null},
		{s.script("fair_unlock", "5", lockName, queue, timeouts, channel, latch, lease, owner, latchTime, clock), one},
		dropLatch,
	}
}

func (s *server) readSteps() []step {
	return []step{
		{s.script("read_lock", "2", lockName, holds, lease, owner, owner+":write"), null},
		{s.script("read_unlock", "5", lockName, holds, "redisson_rwlock:{lock:{slot}}", "{lock:{slot}}", latch, lease, owner, latchTime), one},
		dropLatch,
	}
}

func (s *server) writeSteps() []step {
	return []step{
		{s.script("write_lock", "1", lockName, lease, owner+":write"), null},
		{s.script("write_unlock", "3", lockName, "redisson_rwlock:{lock:{slot}}", latch, lease, owner+":write", latchTime), one},
		dropLatch,
	}
}

func (s *server) semaphoreSteps() []step {
	return []step{
		{s.script("semaphore_acquire", "1", lockName, "1"), one},
		{s.script("semaphore_release", "2", lockName, "redisson_sc:{lock:{slot}}", "1"), one},
	}
}

func (s *server) renewSteps() []step {
	return []step{{s.script("renew", "1", lockName, lease, owner), one}}
}

// load measures how often per second many connections run all steps.
func (b *bench) load(s *server, connections, pipeline int, before, steps []step,
	span time.Duration) (figures, error) {
	rate, err := playOnce[float64]("load", loadSpec{
		Addr: s.addr, Connections: connections, Pipeline: pipeline, Slots: slots,
		Before: before, Steps: steps, Span: span,
	})
	return figures{"rate": rate / float64(len(steps))}, err
}

// slots is the number of locks of a connection. 50 connections have 1,600 locks.
const slots = 32
