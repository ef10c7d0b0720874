package lockkeys

import "testing"

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

func TestANameCostsOneAllocation(t *testing.T) {
	name := "orders:4711"
	var kept string
	if n := testing.AllocsPerRun(100, func() { kept = Channel(name) }); n != 1 {
		t.Errorf("%v allocations for %q", n, kept)
	}
}
