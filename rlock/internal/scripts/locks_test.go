package scripts

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

const (
	lease    = 60_000
	life     = 80_000
	lock     = "l"
	channel  = "redisson_lock__channel:{l}"
	rw       = "redisson_rwlock:{l}"
	queue    = "redisson_lock_queue:{l}"
	timeouts = "redisson_lock_timeout:{l}"
	counter  = "redisson_lock_token:{l}"
	prefix   = "{l}"
	patience = 300_000
)

// kind is one kind of lock: its scripts with their keys and arguments.
type kind struct {
	name    string
	acquire func(b *bed, owner, claim string, lease int) (string, error)
	release func(b *bed, owner, claim string) (string, error)
	force   func(b *bed, request string) (string, error)
	// renew is an ordinary renewal, or a change of the lease of claim "c".
	renew func(b *bed, owner string, lease int, shorten bool) (string, error)
	// held is the state after owner's first acquisition, freed after its release.
	held, freed string
	message     string // of a release; "" for none
	// acquires, releases are the commands of an uncontended pair.
	acquires, releases int
}

func flag(b bool) string {
	if b {
		return "1"
	}
	return ""
}

func now() int64 { return time.Now().UnixMilli() }

// waiting is fair's acquire by an owner that queues.
func waiting(b *bed, owner, claim string) string {
	b.t.Helper()
	return b.run(FairAcquire, []string{lock, latch(claim), queue, timeouts, channel},
		lease, owner, "publish", patience, "1", 30_000)
}

func leaving(b *bed, owner, claim string) string {
	b.t.Helper()
	return b.run(FairRelease, []string{lock, channel, latch(claim), queue, timeouts},
		owner, "publish", life, patience)
}

func kinds() []kind {
	acquire := func(s *Script, more ...string) func(*bed, string, string, int) (string, error) {
		return func(b *bed, owner, claim string, lease int) (string, error) {
			args := []any{lease, owner}
			if len(s.Args) == 3 {
				args = append(args, "again")
			}
			return b.try(s, append([]string{lock, latch(claim)}, more...), args...)
		}
	}
	release := func(
		s *Script, channel, publish string, more ...string,
	) func(*bed, string, string) (string, error) {
		return func(b *bed, owner, claim string) (string, error) {
			return b.try(s, append([]string{lock, channel, latch(claim)}, more...),
				owner, publish, life)
		}
	}
	force := func(s *Script, channel, publish string, args ...any) func(*bed, string) (string, error) {
		return func(b *bed, request string) (string, error) {
			return b.try(s, []string{lock, channel, latch(request)},
				append([]any{publish, life}, args...)...)
		}
	}
	renew := func(s *Script, more ...string) func(*bed, string, int, bool) (string, error) {
		return func(b *bed, owner string, lease int, shorten bool) (string, error) {
			number := 0
			if shorten {
				b.place++
				number = b.place
			}
			return b.try(s, append([]string{lock, latch("c")}, more...),
				lease, owner, flag(shorten), place(number), life)
		}
	}
	return []kind{
		{
			name: "plain", message: channel + " 0", acquires: 3, releases: 4,
			acquire: acquire(PlainAcquire), release: release(PlainRelease, channel, "publish"),
			force: force(PlainForce, channel, "publish"), renew: renew(PlainRenew),
			held: `"l"="map[me:1]"`,
		},
		{
			name: "spin", acquires: 3, releases: 3,
			acquire: acquire(PlainAcquire), release: release(PlainRelease, channel, ""),
			force: force(PlainForce, channel, ""), renew: renew(PlainRenew),
			held: `"l"="map[me:1]"`,
		},
		{
			name: "fenced", message: channel + " 0", acquires: 4, releases: 4,
			acquire: func(b *bed, owner, claim string, lease int) (string, error) {
				v, err := acquire(FencedAcquire, counter)(b, owner, claim, lease)
				if strings.HasPrefix(v, "[-1 ") && v != "[-1 -1]" { // granted, with a token
					return "", err
				}
				return strings.TrimSuffix(strings.TrimPrefix(v, "["), " -1]"), err
			},
			release: release(PlainRelease, channel, "publish"),
			force:   force(PlainForce, channel, "publish"), renew: renew(PlainRenew),
			held:  `"l"="map[me:1]" "redisson_lock_token:{l}"="1"`,
			freed: `"redisson_lock_token:{l}"="1"`,
		},
		{
			name: "fair", acquires: 4, releases: 4,
			acquire: func(b *bed, owner, claim string, lease int) (string, error) {
				return b.try(FairAcquire, []string{lock, latch(claim), queue, timeouts, channel},
					lease, owner, "publish", patience, "", 30_000)
			},
			release: func(b *bed, owner, claim string) (string, error) {
				return b.try(FairRelease, []string{lock, channel, latch(claim), queue, timeouts},
					owner, "publish", life, patience)
			},
			force: func(b *bed, request string) (string, error) {
				return b.try(FairForce, []string{lock, channel, latch(request), queue, timeouts},
					"publish", life, patience)
			},
			renew: renew(PlainRenew),
			held:  `"l"="map[me:1]"`,
		},
		{
			name: "read", message: rw + " 0", acquires: 4, releases: 7,
			acquire: acquire(ReadAcquire, prefix), release: release(ReadRelease, rw, "publish", prefix),
			force: force(RWForce, rw, "publish", "read", "0"), renew: renew(ReadRenew, prefix),
			held: `"l"="map[me:1 mode:read]" "{l}:me:rwlock_timeout:1"="1"`,
		},
		{
			name: "write", message: rw + " 1", acquires: 3, releases: 6,
			acquire: acquire(WriteAcquire), release: release(WriteRelease, rw, "publish"),
			force: force(RWForce, rw, "publish", "write", "1"), renew: renew(WriteRenew),
			held: `"l"="map[me:write:1 mode:write]"`,
		},
	}
}

// onEachKind runs f with each kind of lock on each server.
func onEachKind(t *testing.T, f func(t *testing.T, b *bed, k kind)) {
	onEachServer(t, func(t *testing.T, b *bed) {
		for _, k := range kinds() {
			t.Run(k.name, func(t *testing.T) { f(t, b.at(t), k) })
		}
	})
}

func expect(t testing.TB, what, want string) func(got string, err error) {
	t.Helper()
	return func(got string, err error) {
		t.Helper()
		if got != want || err != nil {
			t.Fatalf("%s: reply %q, %v; want %q", what, got, err, want)
		}
	}
}

func TestALateCopyOfAcquireIsRefused(t *testing.T) {
	onEachKind(t, func(t *testing.T, b *bed, k kind) {
		expect(t, "acquire", "")(k.acquire(b, "me", "c", lease))
		b.wantState(k.held, "after acquire")
		expect(t, "release", "1")(k.release(b, "me", "c"))
		b.wantState(k.freed, "after release")
		expect(t, "late copy", "-4")(k.acquire(b, "me", "c", lease))
		b.wantState(k.freed, "after the late copy")

		expect(t, "another owner's acquire", "")(k.acquire(b, "you", "next", lease))
		before := b.state()
		expect(t, "copy in another hold", "-4")(k.acquire(b, "me", "c", lease))
		b.wantState(before, "after the copy")
		expect(t, "another owner's release", "1")(k.release(b, "you", "next"))
	})
}

func TestAnUndoBeforeItsAcquireRefusesIt(t *testing.T) {
	onEachKind(t, func(t *testing.T, b *bed, k kind) {
		expect(t, "undo", "-1")(k.release(b, "me", "c"))
		expect(t, "acquire", "-4")(k.acquire(b, "me", "c", lease))
		b.wantState("", "after both")
		ttl := b.do("pttl", latch("c")).(int64)
		if ttl > life || ttl < life-10_000 {
			t.Errorf("the latch lives %d ms", ttl)
		}
	})
}

func TestASecondAcquireChangesNothing(t *testing.T) {
	onEachKind(t, func(t *testing.T, b *bed, k kind) {
		expect(t, "acquire", "")(k.acquire(b, "me", "c", lease))
		expect(t, "copy with a shorter lease", "")(k.acquire(b, "me", "c", 1000))
		b.wantState(k.held, "after the copy")
		for _, key := range b.do("keys", "*l*").([]any) {
			if ttl := b.do("pttl", key).(int64); ttl != -1 && ttl < lease/2 {
				t.Errorf("%v lives %d ms", key, ttl)
			}
		}
		expect(t, "copy with a longer lease", "")(k.acquire(b, "me", "c", 10*lease))
		if ttl := b.do("pttl", lock).(int64); ttl < 9*lease {
			t.Errorf("the lock lives %d ms", ttl)
		}
		expect(t, "release", "1")(k.release(b, "me", "c"))
		b.wantState(k.freed, "after the release")
	})
}

func TestASecondReleaseRepliesTheSameAndDoesNothing(t *testing.T) {
	onEachKind(t, func(t *testing.T, b *bed, k kind) {
		expect(t, "acquire", "")(k.acquire(b, "me", "c", lease))
		expect(t, "release", "1")(k.release(b, "me", "c"))
		b.messages()
		expect(t, "the owner's next acquire", "")(k.acquire(b, "me", "d", lease))
		before := b.state()
		expect(t, "copy", "1")(k.release(b, "me", "c"))
		b.wantState(before, "after the copies")
		b.wantMessages()
	})
}

func TestAReleaseOfALostLockRepliesNotHeldEachTime(t *testing.T) {
	onEachKind(t, func(t *testing.T, b *bed, k kind) {
		expect(t, "acquire", "")(k.acquire(b, "me", "c", lease))
		b.do("flushall")
		for range 2 {
			expect(t, "release", "-1")(k.release(b, "me", "c"))
		}
		expect(t, "another owner's acquire", "")(k.acquire(b, "you", "d", lease))
		before := b.state()
		expect(t, "release", "-1")(k.release(b, "me", "c"))
		expect(t, "release", "-1")(k.release(b, "me", "e"))
		b.wantState(before, "after the releases")
	})
}

func TestAnotherOwnerIsToldWhenTheLeaseEnds(t *testing.T) {
	onEachKind(t, func(t *testing.T, b *bed, k kind) {
		expect(t, "acquire", "")(k.acquire(b, "me", "c", lease/3))
		before := b.state()
		if k.name == "read" {
			t.Skip("readers share the lock")
		}
		got, err := k.acquire(b, "you", "d", lease)
		if n := ms(t, got); err != nil || n > lease/3 || n < lease/6 {
			t.Errorf("reply %q, %v", got, err)
		}
		b.wantState(before, "afterwards")
		b.do("persist", lock)
		expect(t, "acquire of a lock without a lease", "-1")(k.acquire(b, "you", "d", lease))
	})
}

func TestARenewalShortensALeaseOnlyOnRequest(t *testing.T) {
	onEachKind(t, func(t *testing.T, b *bed, k kind) {
		expect(t, "renewal of a free lock", "0")(k.renew(b, "me", lease, false))
		b.wantState("", "after it")
		expect(t, "acquire", "")(k.acquire(b, "me", "c", lease))
		for _, c := range []struct {
			lease   int
			shorten bool
			want    int64
		}{{2 * lease, false, 2 * lease}, {lease, false, 2 * lease}, {lease, true, lease}} {
			expect(t, "renewal", "1")(k.renew(b, "me", c.lease, c.shorten))
			key := lock
			if k.name == "read" { // the hash has the longest lease of all readers
				key = "{l}:me:rwlock_timeout:1"
			}
			if ttl := b.do("pttl", key).(int64); ttl > c.want || ttl < c.want-lease/2 {
				t.Errorf("%+v: the lock lives %d ms", c, ttl)
			}
		}
	})
}

func TestForceDeletesTheLockOfAnyOwnerOnce(t *testing.T) {
	onEachKind(t, func(t *testing.T, b *bed, k kind) {
		expect(t, "force of a free lock", "0")(k.force(b, "f"))
		expect(t, "acquire", "")(k.acquire(b, "me", "c", lease))
		expect(t, "its copy", "0")(k.force(b, "f"))
		b.wantMessages()
		expect(t, "force", "1")(k.force(b, "g"))
		if k.message != "" {
			b.wantMessages(k.message)
		}
		if n := b.do("exists", lock).(int64); n != 0 {
			t.Error("the lock exists")
		}
		expect(t, "acquire", "")(k.acquire(b, "you", "d", lease))
		expect(t, "copy", "1")(k.force(b, "g"))
		if n := b.do("exists", lock).(int64); n != 1 {
			t.Error("the copy deleted a later hold")
		}
	})
}

func TestAReleaseIsPublished(t *testing.T) {
	onEachKind(t, func(t *testing.T, b *bed, k kind) {
		expect(t, "acquire", "")(k.acquire(b, "me", "c", lease))
		b.wantMessages()
		expect(t, "release", "1")(k.release(b, "me", "c"))
		if k.message != "" {
			b.wantMessages(k.message)
		}
		b.wantMessages()
	})
}

func TestEveryReleaseWorksAtMaxmemory(t *testing.T) {
	onEachKind(t, func(t *testing.T, b *bed, k kind) {
		release := func() (string, error) { return k.release(b, "me", "c") }
		ends := []struct {
			name  string
			held  bool
			reply string
			send  func() (string, error)
		}{
			{"release", true, "1", release},
			{"release of none", false, "-1", release},
			{"force", true, "1", func() (string, error) { return k.force(b, "c") }},
		}
		for _, end := range ends {
			t.Run(end.name, func(t *testing.T) {
				b := b.at(t)
				if end.held {
					expect(t, "acquire", "")(k.acquire(b, "me", "c0", lease))
				}
				b.messages()
				b.full()
				if end.held {
					expect(t, "renewal", "1")(k.renew(b, "me", 2*lease, false))
				}
				for range 2 {
					expect(t, end.name, end.reply)(end.send())
				}
				if end.held && k.message != "" {
					b.wantMessages(k.message)
				}
				if b.do("exists", lock) != int64(0) {
					t.Error("the lock is held")
				}
				if v := b.do("get", latch("c")); v != end.reply {
					t.Errorf("the latch has %v", v)
				}
			})
		}
	})
}

func TestAnUncontendedPairRunsFewCommands(t *testing.T) {
	onEachKind(t, func(t *testing.T, b *bed, k kind) {
		pair := func(claim string) (acquires, releases int) {
			acquires = b.calls(func() { expect(t, "acquire", "")(k.acquire(b, "me", claim, lease)) })
			releases = b.calls(func() { expect(t, "release", "1")(k.release(b, "me", claim)) })
			return acquires, releases
		}
		if acquires, releases := pair("c"); acquires != k.acquires || releases != k.releases {
			t.Errorf("%d commands acquire and %d release, want %d and %d",
				acquires, releases, k.acquires, k.releases)
		}
	})
}

func TestALateChangeOfAClaimThatIsOverChangesNothing(t *testing.T) {
	onEachKind(t, func(t *testing.T, b *bed, k kind) {
		expect(t, "acquire", "")(k.acquire(b, "me", "c", lease))
		expect(t, "change", "1")(k.renew(b, "me", lease, true))
		expect(t, "late acquire", "-4")(k.acquire(b, "me", "c", lease))
		expect(t, "release", "1")(k.release(b, "me", "c"))
		expect(t, "acquire", "")(k.acquire(b, "me", "d", lease))
		expect(t, "the late change", "0")(k.renew(b, "me", 1, true))
		if ttl := b.do("pttl", lock).(int64); ttl < lease/2 {
			t.Errorf("the late change made the lease %d ms long", ttl)
		}
	})
}

func TestARenewalWithAPlaceOvertakesAnEarlierChange(t *testing.T) {
	onEachServer(t, func(t *testing.T, b *bed) {
		keys := []string{lock, latch("c")}
		b.want("", PlainAcquire, keys, lease, "me", "first")
		b.want("1", PlainRenew, keys, 2*lease, "me", "", place(7), life)
		b.want("2", PlainRenew, keys, 1, "me", "1", place(6), life)
		if ttl := b.do("pttl", lock).(int64); ttl <= lease {
			t.Errorf("the late change made the lease %d ms long", ttl)
		}
	})
}

func TestAVerificationChangesNothing(t *testing.T) {
	onEachKind(t, func(t *testing.T, b *bed, k kind) {
		expect(t, "verification of a free lock", "0")(k.renew(b, "me", 0, false))
		expect(t, "acquire", "")(k.acquire(b, "me", "c", lease))
		ended := k.name == "read" && b.do("del", prefix+":me:rwlock_timeout:1") == int64(1)
		before := b.state()
		expect(t, "verification", "1")(k.renew(b, "me", 0, false))
		b.wantState(before, fmt.Sprint("after it; the read lease has ended: ", ended))
	})
}

func TestALateChangeOfTheLeaseChangesNothing(t *testing.T) {
	onEachKind(t, func(t *testing.T, b *bed, k kind) {
		expect(t, "acquire", "")(k.acquire(b, "me", "c", 9*lease))
		late := b.place
		b.place++
		expect(t, "the later change", "1")(k.renew(b, "me", 5*lease, true))
		b.place = late
		expect(t, "the late change", "2")(k.renew(b, "me", lease, true))
		if got := b.do("pttl", lock).(int64); got <= lease {
			t.Errorf("the late change made the lease %d ms long", got)
		}
		b.place = late + 1
		expect(t, "a copy of the later change", "1")(k.renew(b, "me", 5*lease, true))
		b.full()
		expect(t, "a change at maxmemory", "1")(k.renew(b, "me", 2*lease, true))
		b.place--
		expect(t, "its copy", "1")(k.renew(b, "me", lease, true))
		// Another reader's lease may be longer.
		got := b.do("pttl", lock).(int64)
		if got <= lease || got > 2*lease && k.name != "read" {
			t.Errorf("the lease is %d ms long", got)
		}
	})
}

func TestTheFirstCopyOfAClaimDoesNotLookForItsHold(t *testing.T) {
	onEachServer(t, func(t *testing.T, b *bed) {
		for _, s := range []*Script{PlainAcquire, FencedAcquire} {
			keys := []string{lock, latch("c"), counter}[:len(s.Keys)]
			held, granted := "5000", ""
			if s == FencedAcquire {
				held, granted = "[5000 -1]", "[-1 1]"
			}
			for _, copy := range []string{"first", "woken"} {
				b := b.at(t)
				b.want(granted, s, keys, lease, "me", copy)
				b.do("pexpire", lock, 5000)
				if got := b.run(s, keys, lease, "you", copy); len(got) != len(held) {
					t.Errorf("%s of another owner, copy %s: %s", s.Name, copy, got)
				}
				b.do("del", lock)
				b.do("set", latch("c"), "1")
				over := "-4"
				if s == FencedAcquire {
					over = "[-4 -1]"
				}
				b.want(over, s, keys, lease, "me", copy)
			}
		}
	})
}

func TestAReleaseWithTheOwnerAlonePublishesAndKeepsItsLatch(t *testing.T) {
	onEachServer(t, func(t *testing.T, b *bed) {
		claim, keys := []string{lock, latch("c")}, []string{lock, channel, latch("c")}
		b.want("-1", PlainRelease, []string{lock, channel, latch("b")}, "me")
		b.want("", PlainAcquire, claim, lease, "me", "first")
		b.messages()
		b.want("1", PlainRelease, keys, "me")
		b.wantMessages(channel + " 0")
		b.want("1", PlainRelease, keys, "me")
		b.wantMessages()
		b.want("-4", PlainAcquire, claim, lease, "me", "first")
		b.wantState("", "released")
		life := LatchLife.Milliseconds()
		if ttl := b.do("pttl", latch("c")).(int64); ttl > life || ttl < life-60_000 {
			t.Errorf("the latch lives for %d ms", ttl)
		}
	})
}
