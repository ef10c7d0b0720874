package scripts

import (
	"slices"
	"strconv"
	"testing"
)

// ms reads a reply that is a number of milliseconds.
func ms(t testing.TB, reply string) int {
	t.Helper()
	n, err := strconv.Atoi(reply)
	if err != nil || n <= 0 {
		t.Fatalf("reply %q is no time to wait", reply)
	}
	return n
}

func (b *bed) wantQueue(want ...any) {
	b.t.Helper()
	for key, got := range map[string]any{
		queue: b.do("lrange", queue, 0, -1), timeouts: b.do("zrange", timeouts, 0, -1),
	} {
		if all := got.([]any); !slices.Equal(all, want) {
			b.t.Fatalf("%s has %v, want %v", key, all, want)
		}
	}
}

// deadline returns the owner's deadline in the queue.
func (b *bed) deadline(owner string) int64 {
	b.t.Helper()
	return b.score(timeouts, owner)
}

// score returns the score of a member of a sorted set.
func (b *bed) score(key, member string) int64 {
	b.t.Helper()
	score, err := b.rdb.ZScore(b.t.Context(), key, member).Result()
	if err != nil {
		b.t.Fatal(key, member, err)
	}
	return int64(score)
}

func fairRelease(b *bed, owner, claim string) string {
	b.t.Helper()
	return b.run(FairRelease, []string{lock, channel, latch(claim), queue, timeouts},
		owner, "publish", life, patience)
}

func TestAFairLockIsAcquiredInOrderOfTheQueue(t *testing.T) {
	onEachServer(t, func(t *testing.T, b *bed) {
		wantReply(t, "acquire", waiting(b, "a", "ca"), "")
		ms(t, waiting(b, "b", "cb"))
		ms(t, waiting(b, "c", "cc"))
		ms(t, waiting(b, "d", "cd"))
		if n := ms(t, waiting(b, "b", "cb")); n > lease || n < lease-10_000 {
			t.Errorf("b waits %d ms", n)
		}
		b.wantQueue("b", "c", "d")
		if got := now() + lease + patience - b.deadline("b"); got < 0 || got > 10_000 {
			t.Errorf("b's deadline is %d ms before the end of the lease and its patience", got)
		}
		for _, pair := range [][2]string{{"b", "c"}, {"c", "d"}} {
			if got := b.deadline(pair[1]) - b.deadline(pair[0]); got != patience {
				t.Errorf("deadlines of %v are %d ms apart", pair, got)
			}
		}
		b.wantMessages()
		wantReply(t, "release", fairRelease(b, "a", "ca"), "1")
		b.wantMessages(channel + ":b 0")
		if n := ms(t, waiting(b, "c", "cc")); n != 30_000 {
			t.Errorf("c tries again in %d ms", n)
		}
		before := b.deadline("c")
		wantReply(t, "acquire by the first", waiting(b, "b", "cb"), "")
		b.wantQueue("c", "d")
		if got := before - b.deadline("c"); got != patience {
			t.Errorf("c's deadline is lowered by %d ms", got)
		}
	})
}

func TestAWaiterThatLeftDoesNotQueueAgain(t *testing.T) {
	onEachServer(t, func(t *testing.T, b *bed) {
		wantReply(t, "acquire", waiting(b, "a", "ca"), "")
		for _, owner := range []string{"b", "c", "d"} {
			ms(t, waiting(b, owner, "c"+owner))
		}
		c, d := b.deadline("c"), b.deadline("d")
		b.full()
		for range 2 {
			wantReply(t, "leaving", leaving(b, "b", "cb"), "-1")
			b.wantQueue("c", "d")
			if c-b.deadline("c") != patience || d-b.deadline("d") != patience {
				t.Error("deadlines of c and d are lowered by", c-b.deadline("c"), d-b.deadline("d"))
			}
		}
		b.wantMessages()
		b.do("config", "set", "maxmemory", "0")
		wantReply(t, "late copy", waiting(b, "b", "cb"), "-4")
		wantReply(t, "leaving before the acquire", leaving(b, "e", "ce"), "-1")
		wantReply(t, "acquire after leaving", waiting(b, "e", "ce"), "-4")
		b.wantQueue("c", "d")
		ms(t, waiting(b, "b", "another claim"))
		b.wantQueue("c", "d", "b")
	})
}

func TestLeavingTheQueueOfAFreeLockWakesTheNextWaiter(t *testing.T) {
	onEachServer(t, func(t *testing.T, b *bed) {
		wantReply(t, "acquire", waiting(b, "a", "ca"), "")
		ms(t, waiting(b, "b", "cb"))
		ms(t, waiting(b, "c", "cc"))
		wantReply(t, "release", fairRelease(b, "a", "ca"), "1")
		b.wantMessages(channel + ":b 0")
		wantReply(t, "leaving", leaving(b, "b", "cb"), "-1")
		b.wantMessages(channel + ":c 0")
		wantReply(t, "copy", leaving(b, "b", "cb"), "-1")
		b.wantMessages()
		wantReply(t, "acquire by the next", waiting(b, "c", "cc"), "")
		b.wantState(`"l"="map[c:1]"`, "afterwards")
	})
}

func TestAnUndoOfAFairAcquireWakesTheFirstWaiter(t *testing.T) {
	onEachServer(t, func(t *testing.T, b *bed) {
		wantReply(t, "acquire", waiting(b, "a", "ca"), "")
		ms(t, waiting(b, "b", "cb"))
		b.full()
		wantReply(t, "undo", leaving(b, "a", "ca"), "1")
		b.wantMessages(channel + ":b 0")
		wantReply(t, "copy", leaving(b, "a", "ca"), "1")
		b.wantMessages()
		b.wantQueue("b")
	})
}

func TestForceWakesTheFirstWaiterOfAFairLock(t *testing.T) {
	onEachServer(t, func(t *testing.T, b *bed) {
		wantReply(t, "acquire", waiting(b, "a", "ca"), "")
		ms(t, waiting(b, "b", "cb"))
		for range 2 {
			b.want("1", FairForce, []string{lock, channel, latch("f"), queue, timeouts},
				"publish", life, patience)
		}
		b.wantMessages(channel + ":b 0")
	})
}

func TestAWaiterWhoseDeadlinePassedIsRemovedAndTold(t *testing.T) {
	onEachServer(t, func(t *testing.T, b *bed) {
		wantReply(t, "acquire", waiting(b, "a", "ca"), "")
		for _, owner := range []string{"b", "c"} {
			ms(t, waiting(b, owner, "c"+owner))
		}
		b.do("zadd", timeouts, now()-1, "b")
		wantReply(t, "release", fairRelease(b, "a", "ca"), "1")
		b.wantMessages(channel+":b 0", channel+":c 0")
		b.wantQueue("c")
		ms(t, waiting(b, "b", "cb"))
		b.wantQueue("c", "b")
	})
}

func TestATryDoesNotQueueAndDoesNotOvertake(t *testing.T) {
	onEachServer(t, func(t *testing.T, b *bed) {
		fair := kinds()[3]
		wantReply(t, "acquire", waiting(b, "a", "ca"), "")
		ms(t, waiting(b, "b", "cb"))
		wantReply(t, "release", fairRelease(b, "a", "ca"), "1")
		got, err := fair.acquire(b, "d", "cd", lease)
		if err != nil {
			t.Fatal(err)
		}
		ms(t, got)
		b.wantQueue("b")

		b.do("zadd", timeouts, now()+10_000, "b")
		if n := ms(t, waiting(b, "c", "cc")); n > 10_000 {
			t.Errorf("c tries again in %d ms, after the first waiter's deadline", n)
		}
	})
}

func TestAStaleDeadlineDoesNotKeepAWaiterOutOfTheQueue(t *testing.T) {
	onEachServer(t, func(t *testing.T, b *bed) {
		b.do("zadd", timeouts, now()+lease, "b")
		wantReply(t, "acquire", waiting(b, "a", "ca"), "")
		ms(t, waiting(b, "b", "cb"))
		b.wantQueue("b")
	})
}
