package scripts

import (
	"fmt"
	"testing"
)

const (
	leases  = "{l}:timeout"
	permits = "redisson_sc:{l}"
)

const noLease int64 = 922337203685477

func permitKeys(id string) []string { return []string{lock, leases, permits, latch(id)} }

// permitAcquire acquires permits without an end of their lease.
func permitAcquire(b *bed, claim string, ids ...any) string {
	b.t.Helper()
	return b.run(PermitAcquire, permitKeys(claim), append([]any{"publish", noLease, 0}, ids...)...)
}

func permitRelease(b *bed, request, claim string, ids ...any) string {
	b.t.Helper()
	return b.run(PermitRelease, append(permitKeys(request), latch(claim)),
		append([]any{"publish", life}, ids...)...)
}

func permitUndo(b *bed, claim string, ids ...any) string {
	b.t.Helper()
	return b.run(PermitUndo, permitKeys(claim), append([]any{"publish", life}, ids...)...)
}

func wantReply(t testing.TB, what, got, want string) {
	t.Helper()
	if got != want {
		t.Fatalf("%s: reply %s, want %s", what, got, want)
	}
}

func TestALateCopyOfAPermitAcquireIsRefused(t *testing.T) {
	onEachServer(t, func(t *testing.T, b *bed) {
		for _, c := range []struct {
			name string
			end  func(b *bed) string
		}{
			{"release", func(b *bed) string { return permitRelease(b, "r", "c", "a") }},
			{"release with one latch", func(b *bed) string { return permitRelease(b, "c", "c", "a") }},
			{"undo", func(b *bed) string { return permitUndo(b, "c", "a") }},
		} {
			t.Run(c.name, func(t *testing.T) {
				b := b.at(t)
				b.want("1", PermitSet, permitKeys("s"), "publish", life, 2)
				b.wantMessages(permits + " 2")
				wantReply(t, "acquire", permitAcquire(b, "c", "a"), "[1 1]")
				wantReply(t, "copy", permitAcquire(b, "c", "a"), "[1 1]")
				b.want("1", Seal, []string{latch("x")}, life)
				for range 2 {
					wantReply(t, "end", c.end(b), "1")
				}
				b.wantMessages(permits + " 2")
				free := b.state()
				wantReply(t, "late copy", permitAcquire(b, "c", "a"), "[-4]")
				b.wantState(free, "after the late copy")
				if ttl := b.do("pttl", latch("c")).(int64); ttl < life/2 {
					t.Errorf("the latch lives %d ms", ttl)
				}
			})
		}
	})
}

func TestAPermitUndoBeforeItsAcquireRefusesIt(t *testing.T) {
	onEachServer(t, func(t *testing.T, b *bed) {
		b.want("1", PermitSet, permitKeys("s"), "publish", life, 2)
		b.messages()
		for range 2 {
			wantReply(t, "undo", permitUndo(b, "c", "a", "b"), "0")
		}
		wantReply(t, "acquire", permitAcquire(b, "c", "a", "b"), "[-4]")
		b.wantMessages()
		b.wantState(`"l"="2"`, "after both")
	})
}

func TestARetriedPermitAcquireTellsThatMorePermitsAreFree(t *testing.T) {
	onEachServer(t, func(t *testing.T, b *bed) {
		b.want("1", PermitSet, permitKeys("s"), "publish", life, 1)
		wantReply(t, "acquire", permitAcquire(b, "c", "a"), "[1 0]")
		wantReply(t, "waiter", permitAcquire(b, "d", "b"), "[0 0 -1]")
		b.want("5", PermitAdd, []string{lock, permits, latch("add")}, "publish", life, 5)
		wantReply(t, "copy", permitAcquire(b, "c", "a"), "[1 5]")
	})
}

// A copy of an earlier try may have been granted. The client measures the lease from the
// try whose reply it got.
func TestAFurtherCopyOfAPermitAcquireStartsTheLeaseAgain(t *testing.T) {
	onEachServer(t, func(t *testing.T, b *bed) {
		b.want("1", PermitSet, permitKeys("s"), "publish", life, 2)
		acquire := func(lease int) string {
			return b.run(PermitAcquire, permitKeys("c"), "publish", noLease, lease, "a", "b")
		}
		wantReply(t, "acquire", acquire(60_000), "[1 0]")
		before := b.score(leases, "a")
		wantReply(t, "copy", acquire(90_000), "[1 0]")
		for _, id := range []string{"a", "b"} {
			if more := b.score(leases, id) - before; more < 30_000 {
				t.Errorf("the copy starts the lease of %s %d ms later", id, more)
			}
		}
		before = b.score(leases, "a")
		wantReply(t, "shorter copy", acquire(10), "[1 0]")
		if b.score(leases, "a") != before {
			t.Error("the copy shortens the lease")
		}
	})
}

func TestSeveralPermitsAreReleasedTogetherOrNotAtAll(t *testing.T) {
	onEachServer(t, func(t *testing.T, b *bed) {
		b.want("1", PermitSet, permitKeys("s"), "publish", life, 3)
		wantReply(t, "acquire", permitAcquire(b, "c", "a", "b"), "[1 1]")
		b.messages()
		for range 2 {
			wantReply(t, "release", permitRelease(b, "r", "x", "a", "z"), "0")
		}
		b.wantMessages()
		b.want("[1 2 3]", PermitCount, []string{lock, leases, permits}, "publish")
		wantReply(t, "release of both", permitRelease(b, "s2", "c", "a", "b"), "1")
		b.wantMessages(permits + " 3")
		wantReply(t, "second release", permitRelease(b, "s3", "c", "a", "b"), "0")
		b.wantMessages()
		b.want("[3 0 3]", PermitCount, []string{lock, leases, permits}, "publish")
	})
}

// expire makes the permits' leases end one ms after the epoch.
func (b *bed) expire(ids ...any) {
	b.t.Helper()
	for _, id := range ids {
		b.do("zadd", leases, 1, id)
	}
}

func TestAPermitWhoseLeaseEndedIsFreeAndNotReleased(t *testing.T) {
	onEachServer(t, func(t *testing.T, b *bed) {
		b.want("1", PermitSet, permitKeys("s"), "publish", life, 2)
		wantReply(t, "acquire", permitAcquire(b, "c", "a", "b"), "[1 0]")
		b.messages()
		b.expire("a")
		for range 2 {
			wantReply(t, "release", permitRelease(b, "r", "c", "a"), "0")
		}
		b.wantMessages(permits + " 1")
		b.wantState(`"l"="1" "{l}:timeout"="[[b 9.22337203685477e+14]]"`, "after the release")
		b.expire("b")
		b.want("0", PermitUpdate, []string{lock, leases, permits, latch("c")},
			"publish", noLease, lease, "1", place(1), life, "b")
		b.wantMessages(permits + " 2")
	})
}

func TestAPermitRenewalShortensALeaseOnlyOnRequest(t *testing.T) {
	onEachServer(t, func(t *testing.T, b *bed) {
		keys := []string{lock, leases, permits}
		b.want("1", PermitSet, permitKeys("s"), "publish", life, 2)
		wantReply(t, "acquire", permitAcquire(b, "c", "a", "b"), "[1 0]")
		b.want("-1", PermitLeaseTime, keys, "publish", noLease, "a")
		b.want("0", PermitLeaseTime, keys, "publish", noLease, "z")
		b.want("1", PermitUpdate, append(keys, latch("c")),
			"publish", noLease, lease, "", place(1), life, "a", "b")
		b.want("-1", PermitLeaseTime, keys, "publish", noLease, "a")
		b.want("0", PermitUpdate, append(keys, latch("c")),
			"publish", noLease, lease, "1", place(2), life, "a", "z")
		b.want("-1", PermitLeaseTime, keys, "publish", noLease, "a")
		b.want("1", PermitUpdate, append(keys, latch("c")),
			"publish", noLease, lease, "1", place(3), life, "a", "b")
		b.want("1", PermitUpdate, append(keys, latch("c")),
			"publish", noLease, 1000, "", place(4), life, "a", "b")
		var ms int
		fmt.Sscan(b.run(PermitLeaseTime, keys, "publish", noLease, "b"), &ms)
		if ms > lease || ms < lease/2 {
			t.Errorf("the lease ends in %d ms", ms)
		}
		b.full()
		b.want("1", PermitUpdate, append(keys, latch("c")),
			"publish", noLease, 2*lease, "", place(5), life, "a", "b")
		b.want("1", PermitUpdate, append(keys, latch("c")),
			"publish", noLease, 0, "", place(6), life, "a", "b")
		b.want("-1", PermitLeaseTime, keys, "publish", noLease, "b")
	})
}

func TestAnUndoGivesBackWhatAReleaseByIDsHasLeft(t *testing.T) {
	onEachServer(t, func(t *testing.T, b *bed) {
		b.want("1", PermitSet, permitKeys("s"), "publish", life, 3)
		wantReply(t, "acquire", permitAcquire(b, "c", "a", "b", "c"), "[1 0]")
		b.full()
		for range 2 {
			b.want("1", PermitRelease, append(permitKeys("r"), latch("c"), latch("d")), "publish", life, "b")
		}
		b.do("config", "set", "maxmemory", "0")
		wantReply(t, "late copy", permitAcquire(b, "c", "a", "b", "c"), "[-4]")
		wantReply(t, "late copy of the other claim", permitAcquire(b, "d", "b"), "[-4]")
		for range 2 {
			wantReply(t, "undo", permitUndo(b, "c", "a", "b", "c"), "2")
		}
		b.want("0", PermitRelease, append(permitKeys("r2"), latch("c")), "publish", life, "b")
		wantReply(t, "copy of the undo", permitUndo(b, "c", "a", "b", "c"), "2")
		b.wantState(`"l"="3"`, "afterwards")
	})
}

func TestChangesOfSeveralClientsAreOrderedByTheirArrival(t *testing.T) {
	onEachServer(t, func(t *testing.T, b *bed) {
		b.want("1", PermitSet, permitKeys("s"), "publish", life, 1)
		wantReply(t, "acquire", permitAcquire(b, "c", "a"), "[1 0]")
		change := func(place string, lease int, reply string, least, most int) {
			t.Helper()
			b.want(reply, PermitUpdate, []string{lock, leases, permits, latch("c")},
				"publish", noLease, lease, "1", place, life, "a")
			if left := b.score(leases, "a") - now(); left > int64(most) || left <= int64(least) {
				t.Errorf("after %s the lease ends in %d ms", place, left)
			}
		}
		change("aa:9", lease, "1", 0, lease)
		change("bb:1", 3*lease, "1", lease, 3*lease)
		change("aa:9", lease, "1", lease, 3*lease) // a copy
		change("aa:8", lease, "2", lease, 3*lease)
		change("aa:10", 5*lease, "1", 3*lease, 5*lease)
		change("bb:1", 3*lease, "1", 3*lease, 5*lease)
		if got := b.do("get", latch("c")); got != "lease bb:1 aa:10" {
			t.Errorf("the latch has %q", got)
		}
	})
}

func TestPermitsOfASemaphoreCountOnce(t *testing.T) {
	onEachServer(t, func(t *testing.T, b *bed) {
		acquire := func(claim string, n int) string {
			return b.run(SemAcquire, []string{lock, latch(claim)}, life, n)
		}
		keys := func(request string) []string { return []string{lock, permits, latch(request)} }
		for range 2 {
			b.want("1", CounterCreate, keys("s"), "publish", life, 5, 5)
		}
		b.want("0", CounterCreate, keys("s2"), "publish", life, 9, 9)
		b.wantMessages(permits + " 5")
		for range 2 {
			wantReply(t, "acquire", acquire("c", 2), "[1 3]")
		}
		wantReply(t, "acquire of too many", acquire("d", 4), "[0 3]")
		b.wantMessages()
		for range 2 {
			b.want("4", SemAdd, keys("r"), "publish", life, 1)
		}
		b.wantMessages(permits + " 4")
		wantReply(t, "acquire that was refused before", acquire("d", 4), "[1 0]")

		b.want("1", SemUndo, keys("d"), "publish", life, 4)
		b.want("0", SemUndo, keys("d"), "publish", life, 4)
		b.wantMessages(permits + " 4")
		wantReply(t, "late copy", acquire("d", 4), "[-4 4]")
		b.want("0", SemUndo, keys("e"), "publish", life, 4)
		b.wantMessages()
		wantReply(t, "acquire after its undo", acquire("e", 4), "[-4 4]")

		for range 2 {
			b.want("4", SemDrain, []string{lock, latch("drain")}, life)
		}
		b.wantState(`"l"="0"`, "after draining")
		b.want("-3", SemAdd, keys("less"), "publish", life, -3)
		b.wantMessages()
		b.do("del", lock)
		b.want("1", CounterCreate, keys("s"), "publish", life, 5, 5)
		b.want("0", SemDrain, []string{lock, latch("none")}, life)
		b.wantState("", "after copies of the first requests")
	})
}

func TestACountDownCountsOnce(t *testing.T) {
	onEachServer(t, func(t *testing.T, b *bed) {
		const channel = "redisson_countdownlatch__channel__{l}"
		keys := func(request string) []string { return []string{lock, channel, latch(request)} }
		for range 2 {
			b.want("1", CounterCreate, keys("s"), "publish", life, 2, 1)
		}
		b.want("0", CounterCreate, keys("s2"), "publish", life, 2, 1)
		b.wantMessages(channel + " 1")
		for range 2 {
			b.want("1", CountdownDown, keys("a"), "publish", life)
		}
		b.wantMessages()
		b.full()
		for range 2 {
			b.want("0", CountdownDown, keys("b"), "publish", life)
		}
		b.wantMessages(channel + " 0")
		b.wantState("", "at zero")
		b.want("-1", CountdownDown, keys("c"), "publish", life)
		b.want("1", CounterCreate, keys("s"), "publish", life, 2, 1)
		b.wantMessages()
		b.wantState("", "after copies")
	})
}

func TestReleasesOfPermitsWorkAtMaxmemory(t *testing.T) {
	onEachServer(t, func(t *testing.T, b *bed) {
		for _, c := range []struct {
			name, reply string
			end         func(b *bed) string
		}{
			{"permit release", "1", func(b *bed) string { return permitRelease(b, "r", "c", "a") }},
			{"permit undo", "1", func(b *bed) string { return permitUndo(b, "c", "a") }},
			{"semaphore release", "3", func(b *bed) string {
				return b.run(SemAdd, []string{lock, permits, latch("r")}, "publish", life, 1)
			}},
			{"semaphore undo", "1", func(b *bed) string {
				return b.run(SemUndo, []string{lock, permits, latch("d")}, "publish", life, 1)
			}},
		} {
			t.Run(c.name, func(t *testing.T) {
				b := b.at(t)
				b.want("1", PermitSet, permitKeys("s"), "publish", life, 4)
				wantReply(t, "acquire", permitAcquire(b, "c", "a"), "[1 3]")
				b.want("[1 2]", SemAcquire, []string{lock, latch("d")}, life, 1)
				b.messages()
				b.full()
				wantReply(t, c.name, c.end(b), c.reply)
				b.wantMessages(permits + " 3")
				b.do("config", "set", "maxmemory", "0")
				if got := b.do("get", lock); got != "3" {
					t.Errorf("%v permits are free", got)
				}
			})
		}
	})
}

func rateKeys(more ...string) []string {
	keys := []string{lock, "{l}:value", "{l}:value:id", "{l}:permits", "{l}:permits:id"}
	return append(keys, more...)
}

const grantID = "0123456789abcdef"

func TestARateIsSetOnce(t *testing.T) {
	onEachServer(t, func(t *testing.T, b *bed) {
		set := func(request string) string {
			return b.run(RateTrySet, []string{lock, latch(request)}, 3, lease, 0, 0, life)
		}
		for range 2 {
			wantReply(t, "try set", set("s"), "1")
		}
		wantReply(t, "try set of another", set("t"), "0")
		b.do("del", lock)
		wantReply(t, "late copy", set("s"), "1")
		b.wantState("", "after the copy")
		for range 2 {
			b.want("1", RateSet, rateKeys(latch("u")), 5, lease, 1, 7000, life)
		}
		b.wantState(`"l"="map[interval:60000 keepAliveTime:7000 rate:5 type:1]"`, "after set")
		b.do("del", lock)
		b.want("1", RateSet, rateKeys(latch("u")), 5, lease, 1, 7000, life)
		b.wantState("", "after the copy of set")
	})
}

func TestARateGrantsAndGivesBackOnce(t *testing.T) {
	onEachServer(t, func(t *testing.T, b *bed) {
		for _, kind := range []string{"overall", "per client"} {
			t.Run(kind, func(t *testing.T) {
				b := b.at(t)
				acquire := func(claim, id string, n int) string {
					return b.run(RateAcquire, rateKeys(latch(claim)), n, id)
				}
				wantReply(t, "acquire without a rate", acquire("c", grantID, 1), "-1")
				b.want("-1", RateAvailable, rateKeys())
				b.want("-1", RateRelease, rateKeys(latch("none")), 1, life)
				b.want("0", RateUndo, rateKeys(latch("before")), 1, grantID, life)
				b.want("1", RateSet, rateKeys(latch("s")), 3, lease, kind == "per client", 0, life)
				b.want("[3]", RateAvailable, rateKeys())
				b.want("-1", RateRelease, rateKeys(latch("none")), 1, life)
				wantReply(t, "acquire after its undo", acquire("before", grantID, 1), "-4")
				wantReply(t, "acquire of too many", acquire("c", grantID, 4), "-2")
				for range 2 {
					wantReply(t, "acquire", acquire("c", grantID, 2), "")
				}
				b.want("[1]", RateAvailable, rateKeys())
				var ms int
				fmt.Sscan(acquire("d", "another id of 16", 2), &ms)
				if ms > lease || ms < lease/2 {
					t.Errorf("permits are free in %d ms", ms)
				}
				b.full()
				for range 2 {
					b.want("1", RateUndo, rateKeys(latch("c")), 2, grantID, life)
				}
				wantReply(t, "late copy", acquire("c", grantID, 2), "-4")
				b.do("config", "set", "maxmemory", "0")
				b.want("[3]", RateAvailable, rateKeys())
				wantReply(t, "acquire", acquire("d", "another id of 16", 3), "")
				b.full()
				for range 2 {
					b.want("1", RateRelease, rateKeys(latch("r")), 1, life)
				}
				b.do("config", "set", "maxmemory", "0")
				b.want("[1]", RateAvailable, rateKeys())
			})
		}
	})
}

func TestReadKeyRunsACommandOnAKey(t *testing.T) {
	onEachServer(t, func(t *testing.T, b *bed) {
		b.do("hset", "h", "f", "v")
		b.want("v", ReadKey, []string{"h"}, "hget", "f")
		b.want("1", ReadKey, []string{"h"}, "exists")
		b.want("nil", ReadKey, []string{"x"}, "get")
	})
}

func TestAPermitsLeaseEndsOnTheServersClock(t *testing.T) {
	onEachServer(t, func(t *testing.T, b *bed) {
		b.want("1", PermitSet, permitKeys("s"), "publish", life, 2)
		acquire := func(claim, id string) string {
			return b.run(PermitAcquire, permitKeys(claim), "publish", noLease, lease, id)
		}
		before := now()
		wantReply(t, "acquire", acquire("c", "a"), "[1 1]")
		if got := b.score(leases, "a"); got < before+lease-10_000 || got > now()+lease+10_000 {
			t.Errorf("the lease ends at %d, it is %d", got, now())
		}
		wantReply(t, "acquire", acquire("d", "b"), "[1 0]")
		var zero, free, rest int
		fmt.Sscanf(acquire("e", "x"), "[%d %d %d]", &zero, &free, &rest)
		if zero != 0 || free != 0 || rest > lease || rest < lease/2 {
			t.Errorf("reply {%d, %d, %d} to a waiter", zero, free, rest)
		}
		b.messages()
		b.expire("a")
		wantReply(t, "acquire of a permit whose lease ended", acquire("e", "x"), "[1 0]")
		b.wantMessages(permits + " 1")
	})
}

func TestPermitsExpireWithTheirCounter(t *testing.T) {
	onEachServer(t, func(t *testing.T, b *bed) {
		b.want("1", PermitSet, permitKeys("s"), "publish", life, 2)
		wantReply(t, "acquire", permitAcquire(b, "c", "a"), "[1 1]")
		if ttl := b.do("pttl", leases).(int64); ttl != -1 {
			t.Errorf("the leases expire in %d ms", ttl)
		}
		b.do("pexpire", lock, lease)
		wantReply(t, "acquire", permitAcquire(b, "d", "b"), "[1 0]")
		if ttl := b.do("pttl", leases).(int64); ttl < lease/2 || ttl > lease {
			t.Errorf("the leases expire in %d ms", ttl)
		}
	})
}

func TestPermitSetCountsAcquiredPermitsAndPublishesChangesOnly(t *testing.T) {
	onEachServer(t, func(t *testing.T, b *bed) {
		set := func(request string, n int) string {
			return b.run(PermitSet, permitKeys(request), "publish", life, n)
		}
		b.want("[0 0 0]", PermitCount, []string{lock, leases, permits}, "publish")
		wantReply(t, "set", set("a", 2), "1")
		wantReply(t, "acquire", permitAcquire(b, "c", "p"), "[1 1]")
		b.want("[1 1 2]", PermitCount, []string{lock, leases, permits}, "publish")
		b.messages()
		wantReply(t, "set to the same", set("b", 2), "0")
		b.wantMessages()
		wantReply(t, "set to more", set("c2", 5), "1")
		b.wantMessages(permits + " 5")
		wantReply(t, "late copy", set("a", 2), "1")
		b.wantMessages()
		b.want("[4 1 5]", PermitCount, []string{lock, leases, permits}, "publish")
		for range 2 {
			b.want("1", PermitAdd, []string{lock, permits, latch("add")}, "publish", life, -3)
		}
		b.wantMessages()
		b.want("4", PermitAdd, []string{lock, permits, latch("add2")}, "publish", life, 3)
		b.wantMessages(permits + " 3")
	})
}

func TestARateOfEachKindUsesItsKeysAndKeepsThem(t *testing.T) {
	onEachServer(t, func(t *testing.T, b *bed) {
		for kind, suffix := range []string{"", ":id"} {
			t.Run(fmt.Sprint("kind ", kind), func(t *testing.T) {
				b := b.at(t)
				b.want("1", RateSet, rateKeys(latch("s")), 3, lease, kind, 2*lease, life)
				keys := []string{lock, "{l}:value" + suffix, "{l}:permits" + suffix}
				check := func(when string, want int64) {
					t.Helper()
					for _, key := range keys {
						if ttl := b.do("pttl", key).(int64); ttl > want || ttl < want-lease/2 {
							t.Errorf("%s: %s expires in %d ms, want %d", when, key, ttl, want)
						}
					}
				}
				b.want("", RateAcquire, rateKeys(latch("c")), 1, grantID)
				check("after acquire", 2*lease)
				b.do("pexpire", keys[1], 1000)
				b.want("1", RateRelease, rateKeys(latch("r")), 1, life)
				check("after release", 2*lease)

				b.want("1", RateSet, rateKeys(latch("t")), 3, lease, kind, 0, life)
				if ttl := b.do("pttl", lock).(int64); ttl != -1 {
					t.Errorf("a rate without a keep-alive expires in %d ms", ttl)
				}
				if n := b.do("exists", keys[1], keys[2]); n != int64(0) {
					t.Error("set does not forget the granted permits")
				}
				b.do("pexpire", lock, 5*lease)
				b.want("", RateAcquire, rateKeys(latch("d")), 1, grantID)
				check("with a time to live from outside", 5*lease)
			})
		}
	})
}

func TestPermitsOfARateAreFreeAgainAfterTheInterval(t *testing.T) {
	onEachServer(t, func(t *testing.T, b *bed) {
		other, last := "another id of 16", "the last id of16"
		age := func() { // makes all grants older than the interval
			for _, member := range b.do("zrange", "{l}:permits", 0, -1).([]any) {
				b.do("zadd", "{l}:permits", now()-2*lease, member)
			}
		}
		b.want("1", RateSet, rateKeys(latch("s")), 3, lease, 0, 0, life)
		b.want("", RateAcquire, rateKeys(latch("c")), 2, grantID)
		age()
		b.want("", RateAcquire, rateKeys(latch("d")), 2, other)
		b.want("[1]", RateAvailable, rateKeys())
		if n := b.do("zcard", "{l}:permits"); n != int64(1) {
			t.Errorf("%v grants are kept", n)
		}
		b.want("1", RateRelease, rateKeys(latch("r")), 2, life)
		b.want("[3]", RateAvailable, rateKeys())
		b.want("", RateAcquire, rateKeys(latch("e")), 3, last)
		b.want("[0]", RateAvailable, rateKeys())

		age() // 5 permits come back, but the rate is 3
		b.want("[3]", RateAvailable, rateKeys())
		if got := b.do("get", "{l}:value"); got != "3" {
			t.Errorf("the counter is %v", got)
		}
	})
}

func TestTheDelayOfARateIsWhenEnoughPermitsAreFree(t *testing.T) {
	onEachServer(t, func(t *testing.T, b *bed) {
		b.want("1", RateSet, rateKeys(latch("s")), 3, lease, 0, 0, life)
		for i := range 3 {
			id := fmt.Sprintf("%016d", i)
			b.want("", RateAcquire, rateKeys(latch(id)), 1, id)
		}
		members := b.do("zrange", "{l}:permits", 0, -1).([]any)
		for i, member := range members { // granted 40, 30 and 20 s ago
			b.do("zadd", "{l}:permits", now()-int64(40_000-10_000*i), member)
		}
		for n := 1; n <= 3; n++ {
			want := lease - 40_000 + 10_000*(n-1)
			got := ms(t, b.run(RateAcquire, rateKeys(latch("x")), n, grantID))
			if got > want || got < want-5000 {
				t.Errorf("%d permits are free in %d ms, want %d", n, got, want)
			}
		}
	})
}

func TestEveryQuestionAboutPermitsFreesThoseWhoseLeaseEnded(t *testing.T) {
	onEachServer(t, func(t *testing.T, b *bed) {
		keys := []string{lock, leases, permits}
		for _, c := range []struct {
			s    *Script
			args []any
			want string
		}{
			{PermitCount, []any{"publish"}, "[2 0 2]"},
			{PermitLeaseTime, []any{"publish", noLease, "a"}, "0"},
		} {
			t.Run(c.s.Name, func(t *testing.T) {
				b := b.at(t)
				b.want("1", PermitSet, permitKeys("s"), "publish", life, 2)
				wantReply(t, "acquire", permitAcquire(b, "c", "a"), "[1 1]")
				b.messages()
				b.expire("a")
				b.want(c.want, c.s, keys, c.args...)
				b.wantMessages(permits + " 2")
				b.wantState(`"l"="2"`, "afterwards")
			})
		}
	})
}

func TestAnUndoCountsNoPermitWhoseLeaseHasEnded(t *testing.T) {
	onEachServer(t, func(t *testing.T, b *bed) {
		b.do("set", lock, 3)
		wantReply(t, "acquire", permitAcquire(b, "c", "a", "b"), "[1 1]")
		b.do("zadd", leases, 1, "a") // it ended long ago
		b.messages()
		wantReply(t, "undo", permitUndo(b, "c", "a", "b"), "1")
		wantReply(t, "its copy", permitUndo(b, "c", "a", "b"), "1")
		b.wantMessages(permits + " 3") // both are given back, once
		b.wantState(`"l"="3"`, "after the undo")
	})
}
