package lockkeys

import (
	"strings"
	"testing"
)

func TestNamesAreRedissons(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Channel("l"), "redisson_lock__channel:{l}"},
		{Channel("{a}b"), "redisson_lock__channel:{a}b"},
		{FairChannel("l", "id:1"), "redisson_lock__channel:{l}:id:1"},
		{FairQueue("l"), "redisson_lock_queue:{l}"},
		{FairTimeouts("l"), "redisson_lock_timeout:{l}"},
		{FencingToken("l"), "redisson_lock_token:{l}"},
		{RWChannel("l"), "redisson_rwlock:{l}"},
		{ReadHolds("l", "id:1"), "{l}:id:1:rwlock_timeout"},
		{ReadHolds("{a}b", "id:1"), "{a}b:id:1:rwlock_timeout"},
		{string(AppendUnlockLatch(nil, "l")), "redisson_unlock_latch:{l}:"},
		{SemaphoreChannel("s"), "redisson_sc:{s}"},
		{PermitTimeouts("s"), "{s}:timeout"},
		{CountDownChannel("l", false), "redisson_countdownlatch__channel__{l}"},
		{CountDownChannel("l", true), "redisson_countdownlatch__channel__{l}"},
		{CountDownChannel("{a}b", false), "redisson_countdownlatch__channel__{{a}b}"},
		{CountDownChannel("{a}b", true), "redisson_countdownlatch__channel__{a}b"},
		{RateValue("r"), "{r}:value"},
		{RatePermits("{r}x"), "{r}x:permits"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}

func TestFairNameIsTheLockOfAQueueKey(t *testing.T) {
	for _, name := range []string{"l", "{a}b", "a{b}", "{a"} {
		for _, key := range []string{FairQueue(name), FairTimeouts(name)} {
			if got, ok := FairName(key); !ok || got != name {
				t.Errorf("%q belongs to %q, %v; want %q", key, got, ok, name)
			}
		}
	}
	for _, key := range []string{"l", "redisson_lock_queue", Channel("l"), FencingToken("l")} {
		if name, ok := FairName(key); ok {
			t.Errorf("%q belongs to the fair lock %q", key, name)
		}
	}
}

func TestPermitSemaphoreNameIsTheSemaphoreOfAPermitsKey(t *testing.T) {
	for _, name := range []string{"s", "{a}b", "a{b}", "{a", "a}b", "a}", "{a}{b}", ""} {
		if got, ok := PermitSemaphoreName(PermitTimeouts(name)); !ok || got != name {
			t.Errorf("%q belongs to %q, %v; want %q", PermitTimeouts(name), got, ok, name)
		}
	}
	for _, key := range []string{"s", "s:timeout", "a}:timeout", ":timeout", "{s}:timeouts", FairTimeouts("s"), ""} {
		if name, ok := PermitSemaphoreName(key); ok {
			t.Errorf("%q belongs to the semaphore %q", key, name)
		}
	}
}

func TestAKeyTellsItsPartOfALock(t *testing.T) {
	names := []string{"l", "a}b", "{a}b", "a{b}", "{a", "a:b:7", "", strings.Repeat("n", 500)}
	for _, name := range names {
		for key, want := range map[string]Part{
			FairQueue(name): FairPart, FairTimeouts(name): OtherPart, FencingToken(name): FencingPart,
			Channel(name): OtherPart, RWChannel(name): OtherPart,
			string(AppendUnlockLatch(nil, name)) + "0123": OtherPart,
			name: NoPart, SemaphoreChannel(name): NoPart, "redisson_lock_queue": NoPart,
			FairQueue(name) + "x": NoPart, "redisson_unlock_latch:": NoPart,
		} {
			for _, other := range names {
				want := want
				if other != name {
					want = NoPart
				}
				if got := PartOf([]byte(key), other); got != want {
					t.Errorf("%q of %q: %d, want %d", key, other, got, want)
				}
			}
		}
	}
	key := []byte(FairQueue(names[0]))
	if n := testing.AllocsPerRun(100, func() { PartOf(key, names[0]) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestAChannelTellsWhatItAnnounces(t *testing.T) {
	const owner = "id:17"
	isOwner := func(s string) bool { return s == owner }
	for _, name := range []string{"l", "a}b", "{a}b", "a{b}", "{a", "a:b:7", "{a}:7", ""} {
		for channel, want := range map[string]string{Channel(name): "", FairChannel(name, owner): owner} {
			got, of, ok := ChannelName(channel, isOwner)
			if !ok || got != name || of != want || !IsChannel(channel) {
				t.Errorf("%q: lock %q, owner %q, %v", channel, got, of, ok)
			}
		}
		if got, ok := RWChannelName(RWChannel(name)); !ok || got != name {
			t.Errorf("%q: read-write lock %q, %v", RWChannel(name), got, ok)
		}
		if got, ok := SemaphoreName(SemaphoreChannel(name)); !ok || got != name {
			t.Errorf("%q: semaphore %q, %v", SemaphoreChannel(name), got, ok)
		}
	}
	for _, name := range []string{"l", "{a}b", "a{b}", "a:b:7", ""} {
		for _, sharded := range []bool{false, true} {
			channel := CountDownChannel(name, sharded)
			if got, ok := CountDownName(channel); !ok || got != name || !IsChannel(channel) {
				t.Errorf("%q: latch %q, %v", channel, got, ok)
			}
		}
	}
	for _, channel := range []string{"", "l", "redisson_lock__channel", "redisson_lock__channels:{l}",
		"redisson_rwlock", "redisson_sc", "redisson_scx:{l}", "redisson_countdownlatch__channel"} {
		_, _, lock := ChannelName(channel, isOwner)
		_, rw := RWChannelName(channel)
		_, sem := SemaphoreName(channel)
		_, latch := CountDownName(channel)
		if lock || rw || sem || latch || IsChannel(channel) {
			t.Errorf("%q is a lock's channel", channel)
		}
	}
}

func TestANameCostsOneAllocation(t *testing.T) {
	name := "orders:4711"
	var kept string
	if n := testing.AllocsPerRun(100, func() { kept = Channel(name) }); n != 1 {
		t.Errorf("%v allocations for %q", n, kept)
	}
}
