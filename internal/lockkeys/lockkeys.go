package lockkeys

import (
	"bytes"
	"strings"
)

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

// permitTimeouts follows the braced name in the keys of PermitTimeouts.
const permitTimeouts = ":timeout"

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
func PermitTimeouts(name string) string { return Braced(name) + permitTimeouts }

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

// InOneSlot reports whether the keys of a lock of the given name are in one slot of a
// cluster: not if the name is empty, or has a brace that does not enclose a text.
func InOneSlot(name string) bool {
	_, tag, braced := strings.Cut(name, "{")
	if !braced {
		return name != "" && !strings.Contains(name, "}")
	}
	return strings.Index(tag, "}") > 0
}

// FairName returns the name of the fair lock that a queue or timeouts key belongs to. ok
// is false for any other key. A key does not tell the names x and {x} apart: FairName
// returns x. That is so for the other names that are read from keys and channels, too.
func FairName(key string) (name string, ok bool) {
	if name, ok = unprefixed(fairQueue, key); !ok {
		name, ok = unprefixed(fairTimeouts, key)
	}
	return name, ok
}

// PermitSemaphoreName returns the name of the permit semaphore that a key of PermitTimeouts belongs
// to. ok is false for any other key.
func PermitSemaphoreName(key string) (name string, ok bool) {
	braced, ok := strings.CutSuffix(key, permitTimeouts)
	if !ok {
		return "", false
	}
	if name = unbraced(braced); Braced(name) != braced {
		return "", false
	}
	return name, true
}

// Part is what a key or channel beside a lock's own key is for.
type Part uint8

// The parts of a lock.
const (
	NoPart      Part = iota
	FairPart         // the queue of a fair lock
	FencingPart      // the counter of a fenced lock
	OtherPart        // a channel, an unlock latch, the timeouts of a fair lock's queue
)

// PartOf returns which part of the lock called name a key is. It allocates nothing.
func PartOf(key []byte, name string) Part {
	if len(key) <= len(name) { // the lock itself
		return NoPart
	}
	i := bytes.IndexByte(key, ':')
	if i < 0 {
		return NoPart
	}
	part, rest := OtherPart, key[i+1:]
	switch string(key[:i]) {
	case channel, rwChannel, fairTimeouts:
	case fairQueue:
		part = FairPart
	case fencingToken:
		part = FencingPart
	case unlockLatch: // the release's id follows
		if i = bytes.LastIndexByte(rest, ':'); i < 0 {
			return NoPart
		}
		rest = rest[:i]
	default:
		return NoPart
	}
	if !isBraced(rest, name) {
		return NoPart
	}
	return part
}

// isBraced reports whether s is Braced(name).
func isBraced(s []byte, name string) bool {
	if strings.Contains(name, "{") {
		return string(s) == name
	}
	last := len(s) - 1
	return len(s) == len(name)+2 && s[0] == '{' && s[last] == '}' && string(s[1:last]) == name
}

// IsChannel reports whether a channel announces the release of a lock or a semaphore, or the
// end of a latch.
func IsChannel(of string) bool {
	return IsLockChannel(of) || strings.HasPrefix(of, semaphoreChannel+":") ||
		strings.HasPrefix(of, countDownChannel)
}

// IsLockChannel reports whether a channel announces the release of a lock.
func IsLockChannel(of string) bool {
	return strings.HasPrefix(of, channel+":") || strings.HasPrefix(of, rwChannel+":")
}

// ChannelName returns the name of the lock whose release a channel announces. owner is "",
// or the owner in a fair lock's queue whose channel it is. isOwner tells owners from the end
// of a name. ok is false for other channels.
func ChannelName(of string, isOwner func(string) bool) (name, owner string, ok bool) {
	rest, ok := strings.CutPrefix(of, channel+":")
	if !ok {
		return "", "", false
	}
	for at := range rest {
		if at > 0 && rest[at] == ':' && isOwner(rest[at+1:]) {
			return unbraced(rest[:at]), rest[at+1:], true
		}
	}
	return unbraced(rest), "", true
}

// RWChannelName returns the name of the read-write lock whose release a channel announces. ok
// is false for other channels.
func RWChannelName(of string) (name string, ok bool) { return unprefixed(rwChannel, of) }

// SemaphoreName returns the name of the semaphore whose free permits a channel announces. ok
// is false for other channels.
func SemaphoreName(of string) (name string, ok bool) { return unprefixed(semaphoreChannel, of) }

// CountDownName returns the name of the latch whose end a channel announces. ok is false for
// other channels.
func CountDownName(of string) (name string, ok bool) {
	rest, ok := strings.CutPrefix(of, countDownChannel)
	if !ok {
		return "", false
	}
	depth := 0
	for i, c := range rest { // the braces of CountDownChannel may enclose others
		switch c {
		case '{':
			depth++
		case '}':
			depth--
		}
		if depth <= 0 && i < len(rest)-1 {
			return rest, true
		}
	}
	return strings.TrimSuffix(strings.TrimPrefix(rest, "{"), "}"), true
}

// unprefixed undoes prefixed.
func unprefixed(prefix, key string) (name string, ok bool) {
	rest, ok := strings.CutPrefix(key, prefix)
	if ok {
		rest, ok = strings.CutPrefix(rest, ":")
	}
	if !ok {
		return "", false
	}
	return unbraced(rest), true
}

// unbraced undoes Braced. A name that Braced puts in braces has no opening brace.
func unbraced(s string) string {
	inner, opens := strings.CutPrefix(s, "{")
	inner, closes := strings.CutSuffix(inner, "}")
	if opens && closes && !strings.Contains(inner, "{") {
		return inner
	}
	return s
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
