package lockkeys

import "strings"

// The prefixes of the names. A prefix is followed by a colon and the braced name, except
// countDownChannel.
const (
	channel          = "redisson_lock__channel"
	rwChannel        = "redisson_rwlock"
	fairQueue        = "redisson_lock_queue"
	fairTimeouts     = "redisson_lock_timeout"
	fencingToken     = "redisson_lock_token"
	unlockLatch      = "redisson_unlock_latch"
	semaphoreChannel = "redisson_sc"
	countDownChannel = "redisson_countdownlatch__channel__"
)

// Channel returns the channel on which the release of a lock is announced. The waiters of
// plain, fenced and spin locks subscribe to it.
func Channel(name string) string { return prefixed(channel, name) }

// FairChannel returns the channel of one owner in a fair lock's queue. The release is
// announced on it when that owner is next.
func FairChannel(name, owner string) string { return Channel(name) + ":" + owner }

// FairQueue returns the list of the owners that wait for a fair lock, the next one first.
func FairQueue(name string) string { return prefixed(fairQueue, name) }

// FairTimeouts returns the sorted set of the owners in a fair lock's queue. The score is
// the time in Unix ms until which the owner keeps its place.
func FairTimeouts(name string) string { return prefixed(fairTimeouts, name) }

// FencingToken returns the counter of a fenced lock.
func FencingToken(name string) string { return prefixed(fencingToken, name) }

// RWChannel returns the channel on which the release of a read-write lock is announced.
func RWChannel(name string) string { return prefixed(rwChannel, name) }

// ReadHolds returns the common part of the keys of one owner's read holds. A key is this
// name, a colon and the hold's number.
func ReadHolds(name, owner string) string { return Braced(name) + ":" + owner + ":rwlock_timeout" }

// AppendUnlockLatch appends to b the common part of a lock's unlock latches and a colon.
// An unlock latch keeps the answer of one release; the release's id follows the colon.
func AppendUnlockLatch(b []byte, name string) []byte {
	return append(appendPrefixed(b, unlockLatch, name), ':')
}

// SemaphoreChannel returns the channel on which free permits are announced.
func SemaphoreChannel(name string) string { return prefixed(semaphoreChannel, name) }

// PermitTimeouts returns the sorted set of a permit semaphore's permits.
func PermitTimeouts(name string) string { return Braced(name) + ":timeout" }

// CountDownChannel returns the channel on which a latch that reached zero is announced.
// Redisson puts even a name that has braces in braces. In a cluster that can be another
// slot than the latch's, and Redisson's own scripts fail. With sharded the name is put in
// braces only if it has none.
func CountDownChannel(name string, sharded bool) string {
	if sharded {
		return countDownChannel + Braced(name)
	}
	return countDownChannel + "{" + name + "}"
}

// RateValue returns the key that counts a rate limiter's free permits.
func RateValue(name string) string { return Braced(name) + ":value" }

// RatePermits returns the key that records the permits a rate limiter gave away.
func RatePermits(name string) string { return Braced(name) + ":permits" }

// Braced returns {name}, or name itself when it contains an opening brace.
func Braced(name string) string {
	if strings.Contains(name, "{") {
		return name
	}
	return "{" + name + "}"
}

// FairName returns the name of the fair lock that a queue or timeouts key belongs to. ok
// is false for any other key. A key does not tell the names x and {x} apart: FairName
// returns x.
func FairName(key string) (name string, ok bool) {
	if name, ok = strings.CutPrefix(key, fairQueue+":"); !ok {
		name, ok = strings.CutPrefix(key, fairTimeouts+":")
	}
	if !ok {
		return "", false
	}
	inner, braced := strings.CutPrefix(name, "{")
	if braced && strings.IndexByte(inner, '}') == len(inner)-1 {
		name = inner[:len(inner)-1]
	}
	return name, true
}

// prefixed returns prefix:{name} (RedissonObject.prefixName).
func prefixed(prefix, name string) string {
	var b [128]byte // most names fit, so the only allocation is the string
	return string(appendPrefixed(b[:0], prefix, name))
}

func appendPrefixed(b []byte, prefix, name string) []byte {
	b = append(append(b, prefix...), ':')
	if strings.Contains(name, "{") {
		return append(b, name...)
	}
	return append(append(append(b, '{'), name...), '}')
}
