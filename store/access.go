package store

import "math/rand/v2"

// Each key records its last accesses in 24 bits, as in Redis. Under most policies they are
// the time of the last access in seconds, modulo accessClock+1. Under an LFU policy they
// are a counter of accesses (8 bits) and the time of the counter's last change in minutes
// (16 bits). A change of the policy leaves the bits as they are: the keys adjust as they
// are accessed.
const (
	accessClock = 1<<24 - 1
	minuteClock = 1<<16 - 1
	newKeyCount = 5 // the counter of a new key, so that it is not evicted at once
	mostCount   = 255
)

// Frequencies says how accesses are counted under an LFU policy.
type Frequencies struct {
	On           bool // false: keys record the time of their last access
	LogFactor    int  // lfu-log-factor
	DecayMinutes int  // lfu-decay-time, 0: counters do not decay
	Rand         *rand.Rand
}

// Access records an access to the key. nil stands for a missing key.
func (db *DB) Access(e *Entry) {
	if e != nil {
		db.access(e)
	}
}

func (db *DB) access(e *Entry) {
	switch s := db.space; {
	case s.NoTouch:
	case s.Frequencies.On:
		e.setAccessed(s.counted(e.Accessed()))
	default:
		e.setAccessed(s.clock)
	}
}

// firstAccess returns what a new key records.
func (s *Space) firstAccess() uint32 {
	if s.Frequencies.On {
		return s.minute()<<8 | newKeyCount
	}
	return s.clock
}

// minute returns the time that frequencies are recorded with.
func (s *Space) minute() uint32 { return uint32(s.now/60000) & minuteClock }

// counted returns accessed after another access: a counter that grows with the logarithm
// of the number of accesses.
func (s *Space) counted(accessed uint32) uint32 {
	count := s.count(accessed)
	if count < mostCount {
		f := &s.Frequencies
		above := max(0, float64(count)-newKeyCount)
		if p := 1 / (above*float64(f.LogFactor) + 1); p == 1 || f.Rand.Float64() < p {
			count++
		}
	}
	return s.minute()<<8 | count
}

// count returns the counter, less its decay until now.
func (s *Space) count(accessed uint32) uint32 {
	count, then := accessed&mostCount, accessed>>8
	f := &s.Frequencies
	if f.DecayMinutes == 0 {
		return count
	}
	now := s.minute()
	passed := now - then
	if now < then {
		passed = minuteClock - then + now
	}
	return count - min(count, passed/uint32(f.DecayMinutes))
}

// Accessed returns the 24 bits that e records about its accesses (DEBUG OBJECT).
func (e *Entry) Accessed() uint32 { return e.bits & accessClock }

func (e *Entry) setAccessed(bits uint32) { e.bits = e.bits&^accessClock | bits }

// KeepAccessed makes e record the same accesses as another key (RENAME, MOVE).
func (e *Entry) KeepAccessed(of *Entry) { e.setAccessed(of.Accessed()) }

// Idle returns the seconds since the last access to e. Under an LFU policy the result has
// no meaning.
func (s *Space) Idle(e *Entry) int64 {
	at := e.Accessed()
	if s.clock < at {
		return int64(s.clock + accessClock - at)
	}
	return int64(s.clock - at)
}

// Frequency returns the counter of accesses to e. It has a meaning under an LFU policy only.
func (s *Space) Frequency(e *Entry) int64 { return int64(s.count(e.Accessed())) }

// SetIdle makes the last access to e seconds ago. Under an LFU policy it does nothing.
func (s *Space) SetIdle(e *Entry, seconds int64) {
	if s.Frequencies.On {
		return
	}
	at := int64(s.clock) - seconds
	if at < 0 {
		at += accessClock
	}
	e.setAccessed(uint32(at) & accessClock)
}

// SetFrequency sets the counter of accesses to e, from 0 to 255. Under another policy than
// LFU it does nothing.
func (s *Space) SetFrequency(e *Entry, count int64) {
	if s.Frequencies.On {
		e.setAccessed(s.minute()<<8 | uint32(count))
	}
}
