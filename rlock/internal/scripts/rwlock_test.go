package scripts

import (
	"testing"
)

func readAcquire(b *bed, owner, claim string, lease int) string {
	b.t.Helper()
	return b.run(ReadAcquire, []string{lock, latch(claim), prefix}, lease, owner)
}

func readRelease(b *bed, owner, claim string) string {
	b.t.Helper()
	return b.run(ReadRelease, []string{lock, rw, latch(claim), prefix},
		owner, "publish", life)
}

func writeAcquire(b *bed, owner, claim string) string {
	b.t.Helper()
	return b.run(WriteAcquire, []string{lock, latch(claim)}, lease, owner)
}

func writeRelease(b *bed, owner, claim string) string {
	b.t.Helper()
	return b.run(WriteRelease, []string{lock, rw, latch(claim)},
		owner, "publish", life)
}

func (b *bed) wantLocked(read, write string) {
	b.t.Helper()
	b.want(read, ReadLocked, []string{lock})
	b.want(write, WriteLocked, []string{lock})
}

func TestReadersShareAndKeepAWriterOut(t *testing.T) {
	onEachServer(t, func(t *testing.T, b *bed) {
		b.wantLocked("0", "0")
		wantReply(t, "read", readAcquire(b, "a", "ca", 10*lease), "")
		wantReply(t, "read", readAcquire(b, "b", "cb", lease), "")
		b.wantLocked("1", "0")
		if n := ms(t, writeAcquire(b, "c", "cc")); n < 9*lease {
			t.Errorf("the writer waits %d ms", n)
		}
		wantReply(t, "release", readRelease(b, "a", "ca"), "1")
		b.wantMessages(rw + " 0") // the lock ends much earlier
		if n := ms(t, writeAcquire(b, "c", "cc")); n > lease {
			t.Errorf("the writer waits %d ms for the second reader", n)
		}
		wantReply(t, "late copy", readAcquire(b, "a", "ca", lease), "-4")
		wantReply(t, "release", readRelease(b, "b", "cb"), "1")
		b.wantMessages(rw + " 0")
		wantReply(t, "write", writeAcquire(b, "c", "cc"), "")
		b.wantLocked("0", "1")
		ms(t, readAcquire(b, "a", "another claim", lease))
	})
}

func TestAWriterThatReadsKeepsTheLockForReading(t *testing.T) {
	onEachServer(t, func(t *testing.T, b *bed) {
		wantReply(t, "write", writeAcquire(b, "a", "cw"), "")
		wantReply(t, "read", readAcquire(b, "a", "cr", lease), "")
		b.wantLocked("1", "1")
		b.full()
		wantReply(t, "release of the write lock", writeRelease(b, "a", "cw"), "1")
		b.wantMessages(rw + " 1")
		b.wantLocked("1", "0")
		wantReply(t, "late copy of write", writeAcquire(b, "a", "cw"), "-4")
		wantReply(t, "release of the read lock", readRelease(b, "a", "cr"), "1")
		b.wantMessages(rw + " 0")
		b.wantState("", "afterwards")
	})
}

func TestAWriterThatReadsMayReleaseTheReadLockFirst(t *testing.T) {
	onEachServer(t, func(t *testing.T, b *bed) {
		wantReply(t, "write", writeAcquire(b, "a", "cw"), "")
		wantReply(t, "read", readAcquire(b, "a", "cr", lease), "")
		wantReply(t, "release of the read lock", readRelease(b, "a", "cr"), "1")
		b.wantMessages()
		b.wantState(`"l"="map[a:write:1 mode:write]"`, "afterwards")
		wantReply(t, "release of the write lock", writeRelease(b, "a", "cw"), "1")
		b.wantMessages(rw + " 1")
	})
}

func TestAReadReleaseThatEndsTheLockMuchEarlierWakesTheWaiters(t *testing.T) {
	onEachServer(t, func(t *testing.T, b *bed) {
		for short, woken := range map[int]bool{lease / 3: true, lease * 2 / 3: false} {
			wantReply(t, "read", readAcquire(b, "a", "ca", short), "")
			wantReply(t, "read", readAcquire(b, "b", "cb", lease), "")
			wantReply(t, "release", readRelease(b, "b", "cb"), "1")
			if woken {
				b.wantMessages(rw + " 0")
			} else {
				b.wantMessages()
			}
			wantReply(t, "release", readRelease(b, "a", "ca"), "1")
			b.wantMessages(rw + " 0")
			b.do("del", latch("ca"), latch("cb"))
		}
	})
}

func TestAReadRenewalAtMaxmemoryRestoresALeaseThatEnded(t *testing.T) {
	onEachServer(t, func(t *testing.T, b *bed) {
		wantReply(t, "read", readAcquire(b, "a", "ca", lease), "")
		b.do("del", prefix+":a:rwlock_timeout:1")
		b.full()
		b.want("1", ReadRenew, []string{lock, latch("c"), prefix}, lease, "a", "", 0, life)
		b.wantState(`"l"="map[a:1 mode:read]" "{l}:a:rwlock_timeout:1"="1"`, "after the renewal")
	})
}

func TestATokenIsHigherThanAllBeforeAndTheSameInACopy(t *testing.T) {
	onEachServer(t, func(t *testing.T, b *bed) {
		acquire := func(owner, claim string) string {
			return b.run(FencedAcquire, []string{lock, latch(claim), counter}, lease, owner, "again")
		}
		for range 2 {
			wantReply(t, "acquire", acquire("a", "ca"), "[-1 1]")
		}
		b.do("del", lock)
		wantReply(t, "acquire by another", acquire("b", "cb"), "[-1 2]")
	})
}

func TestARetryOfAReadKeepsOtherReadersLeases(t *testing.T) {
	onEachServer(t, func(t *testing.T, b *bed) {
		wantReply(t, "read", readAcquire(b, "a", "ca", 10*lease), "")
		wantReply(t, "read", readAcquire(b, "b", "cb", lease), "")
		wantReply(t, "copy", readAcquire(b, "b", "cb", lease/2), "")
		if ttl := b.do("pttl", lock).(int64); ttl < 9*lease {
			t.Errorf("the lock lives %d ms", ttl)
		}
		b.do("del", prefix+":a:rwlock_timeout:1")
		wantReply(t, "release", readRelease(b, "b", "cb"), "1")
		b.wantMessages(rw + " 0") // a's lease has ended, so the lock is free
		b.wantState("", "afterwards")
	})
}

func TestAWriterThatReadsKeepsTheLongerLease(t *testing.T) {
	onEachServer(t, func(t *testing.T, b *bed) {
		renew := func() {
			b.place++
			b.want("1", WriteRenew, []string{lock, latch("cw")}, lease, "a", "1", place(b.place), life)
		}
		wantReply(t, "write", writeAcquire(b, "a", "cw"), "")
		b.do("pexpire", lock, 10*lease)
		renew()
		if ttl := b.do("pttl", lock).(int64); ttl > lease {
			t.Errorf("the lock lives %d ms", ttl)
		}
		wantReply(t, "read", readAcquire(b, "a", "cr", 10*lease), "")
		renew()
		if ttl := b.do("pttl", lock).(int64); ttl < 9*lease {
			t.Errorf("with a read hold the lock lives %d ms", ttl)
		}
		b.do("pexpire", lock, lease/3)
		renew()
		if ttl := b.do("pttl", lock).(int64); ttl < lease/2 {
			t.Errorf("after the renewal the lock lives %d ms", ttl)
		}
	})
}

func TestACopyOfAReadAcquireMakesTheLeaseLonger(t *testing.T) {
	onEachServer(t, func(t *testing.T, b *bed) {
		key := prefix + ":a:rwlock_timeout:1"
		wantReply(t, "read", readAcquire(b, "a", "c", lease), "")
		wantReply(t, "copy with a longer lease", readAcquire(b, "a", "c", 2*lease), "")
		b.wantTTL(key, 2*lease)
		b.want("1", ReadRenew, []string{lock, latch("c"), prefix}, 6*lease, "a", "", place(1), life)
		b.wantTTL(key, 6*lease)
		b.wantTTL(lock, 6*lease)
	})
}

func TestAReleaseOfALockThatIsGoneWakesWaiters(t *testing.T) {
	onEachServer(t, func(t *testing.T, b *bed) {
		wantReply(t, "read", readRelease(b, "a", "c"), "-1")
		wantReply(t, "its copy", readRelease(b, "a", "c"), "-1")
		b.wantMessages(rw + " 0")
		wantReply(t, "write", writeRelease(b, "a", "d"), "-1")
		b.wantMessages(rw + " 1")
		wantReply(t, "read by another", readAcquire(b, "b", "e", lease), "")
		wantReply(t, "read", readRelease(b, "a", "f"), "-1")
		wantReply(t, "write", writeRelease(b, "a", "g"), "-1")
		b.wantMessages()
	})
}

// Redisson's hash may have several holds of a reader whose keys are gone.
func TestAReadLockWhoseLeasesEndedIsFreeAfterAnyRelease(t *testing.T) {
	onEachServer(t, func(t *testing.T, b *bed) {
		wantReply(t, "read", readAcquire(b, "a", "c", lease), "")
		b.do("hset", lock, "java:1", "2")
		for range 2 {
			wantReply(t, "release", readRelease(b, "a", "c"), "1")
		}
		b.wantMessages(rw + " 0")
		b.wantState("", "afterwards")
	})
}

func TestAShorterReadLeaseShortensTheLock(t *testing.T) {
	onEachServer(t, func(t *testing.T, b *bed) {
		shorten := func(owner, claim string, to int) {
			t.Helper()
			b.place++
			b.want("1", ReadRenew, []string{lock, latch(claim), prefix}, to, owner, "1", place(b.place), life)
		}
		wantReply(t, "read", readAcquire(b, "a", "c", 6*lease), "")
		wantReply(t, "read by another", readAcquire(b, "b", "d", 4*lease), "")
		shorten("a", "c", lease)
		b.wantTTL(lock, 4*lease)
		shorten("b", "d", 2*lease)
		b.wantTTL(lock, 2*lease)
		b.want("1", ReadRenew, []string{lock, latch("c"), prefix}, lease, "a", "", "0", life)
		b.wantTTL(lock, 2*lease) // a renewal does not shorten it

		w := b.at(t)
		wantReply(t, "write", writeAcquire(w, "a", "c"), "")
		wantReply(t, "read", readAcquire(w, "a", "d", lease), "")
		w.place = b.place
		b = w
		shorten("a", "d", lease/2)
		b.wantTTL(lock, lease) // the writer's lease
	})
}
