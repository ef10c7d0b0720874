package inspect

import (
	"strings"
	"unsafe"

	"github.com/lockredis/lockredis/internal/lockkeys"
	"github.com/lockredis/lockredis/store"
)

// Hints are what the keys that scripts named beside a key tell about it.
type Hints struct {
	Lock   bool // it is a lock in Redisson's layout
	Fair   bool // it is a fair lock
	Fenced bool // it is a fenced lock
	// Semaphore is the permit semaphore whose permits the key has, "" for other keys.
	Semaphore string
}

// Note adds the hints of a script that wrote the key name and declared the keys named. A key alone
// tells nothing.
func (h *Hints) Note(name string, named [][]byte) {
	if len(named) == 1 && len(named[0]) == len(name) {
		return
	}
	for _, key := range named {
		switch lockkeys.PartOf(key, name) {
		case lockkeys.FairPart:
			h.Lock, h.Fair = true, true
		case lockkeys.FencingPart:
			h.Lock, h.Fenced = true, true
		case lockkeys.OtherPart:
			h.Lock = true
		}
	}
	if h.Semaphore == "" && strings.HasSuffix(name, permitsSuffix) {
		h.Semaphore = semaphoreOf(name, named)
	}
}

// HintsOf returns what a key's name tells about it. It is for a key that no known script wrote.
func HintsOf(key string) (h Hints) {
	h.Semaphore, _ = lockkeys.PermitSemaphoreName(key)
	return h
}

// semaphoreOf returns the permit semaphore whose permits are under a key, "" if there is none.
// The scripts that write permits also name the counter, which has the semaphore's name, and
// the channel.
func semaphoreOf(key string, named [][]byte) string {
	for _, counter := range named {
		name := string(counter)
		if lockkeys.PermitTimeouts(name) != key {
			continue
		}
		for _, channel := range named {
			if string(channel) == lockkeys.SemaphoreChannel(name) {
				return name
			}
		}
	}
	return ""
}

// Entry tells when an owner entered a lock or a queue, and for which client.
type Entry struct {
	Since int64 // Unix ms; 0: unknown
	By    Origin
}

// Entries are the owners in a key's value, by field, element or member. The zero Entries is
// empty. A lock has one as a rule, so a few are kept in a slice, and many in a map.
type Entries struct {
	few  []namedEntry
	many map[string]*Entry // nil while there are few
}

type namedEntry struct {
	name []byte
	Entry
}

const (
	// maxFew is the greatest length of Entries.few.
	maxFew = 8
	// longestKept is the length of the longest name whose memory Reset keeps, in bytes.
	longestKept = 256
)

// Reset removes all entries. It keeps the memory of a few for the next ones.
func (e *Entries) Reset() {
	for i := range e.few {
		if f := &e.few[i]; cap(f.name) > longestKept {
			*f = namedEntry{}
		} else {
			f.Entry = Entry{}
		}
	}
	e.few, e.many = e.few[:0], nil
}

// Len returns how many entries there are.
func (e *Entries) Len() int { return len(e.few) + len(e.many) }

// Get returns an owner's entry. ok is false if there is none.
func (e *Entries) Get(name []byte) (entry Entry, ok bool) {
	if found := e.Find(name); found != nil {
		return *found, true
	}
	return entry, false
}

// Find is Get for a caller that changes the entry. It returns nil if there is none. The entry is valid
// until the next call of Add, Drop or Reset.
func (e *Entries) Find(name []byte) *Entry {
	for i := range e.few {
		if string(e.few[i].name) == string(name) {
			return &e.few[i].Entry
		}
	}
	return e.many[string(name)]
}

// Again is Find for an owner that may have just left: the entry that Reset or Drop has removed from
// the place behind the others comes back, and isNew is true.
func (e *Entries) Again(name []byte) (entry *Entry, isNew bool) {
	if e.many != nil {
		return e.many[string(name)], false
	}
	n := len(e.few)
	places := e.few[:min(n+1, cap(e.few))]
	for i := range places {
		if string(places[i].name) != string(name) {
			continue
		}
		if i == n {
			e.few = places
		}
		return &places[i].Entry, i == n
	}
	return nil, false
}

// Add adds an owner that has no entry. It keeps a copy of the name. The entry is valid as Find's is.
func (e *Entries) Add(name []byte) *Entry {
	n := len(e.few)
	if e.many == nil && n < maxFew {
		if n == cap(e.few) {
			e.few = append(e.few, namedEntry{})
		}
		e.few = e.few[:n+1] // in the memory of an earlier entry, if there was one
		f := &e.few[n]
		f.name = append(f.name[:0], name...)
		return &f.Entry
	}
	if e.many == nil {
		e.many = make(map[string]*Entry, 2*maxFew)
		for i := range e.few {
			e.many[string(e.few[i].name)] = &e.few[i].Entry
		}
		e.few = nil
	}
	added := &Entry{}
	e.many[string(name)] = added
	return added
}

// Drop removes an owner's entry, if there is one.
func (e *Entries) Drop(name []byte) {
	delete(e.many, string(name))
	for i := range e.few {
		if string(e.few[i].name) == string(name) {
			last := len(e.few) - 1
			dropped := e.few[i]
			copy(e.few[i:], e.few[i+1:])
			e.few[last] = namedEntry{name: dropped.name}
			e.few = e.few[:last]
			return
		}
	}
}

// MayOwn reports whether a hash's field has the form of a lock's owner, with or without
// ":write", or of an owner's count in a multi-lock. isLock is asked whether the hash is a lock for other
// reasons: then the owner's id need not be a UUID. It is called inside the engine.
func (i *Inspector) MayOwn(field []byte, isLock func() bool) bool {
	text := unsafe.String(unsafe.SliceData(field), len(field)) // it is read here only
	owner := strings.TrimSuffix(text, writeEnd)
	if len(owner) > uuidLen+1 && owner[uuidLen] == ':' {
		id, thread := owner[:uuidLen], owner[uuidLen+1:]
		if isNumber(thread) && (id == string(i.uuid[:]) || isUUID(id)) {
			copy(i.uuid[:], id)
			return true
		}
	}
	if strings.IndexByte(owner, ':') < 0 {
		return false
	}
	ours := func(id string) bool { return i.known[id] || isLock() }
	return isOwner(owner) || isOwnerOf(owner, ours) || strings.HasSuffix(owner, countEnd)
}

// isNumber reports whether s is a number of at most 18 digits.
func isNumber(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != "" && len(s) < 19
}

// MayHold reports whether a value under the key may hold owners: a hash does, and the parts of
// a fair lock's queue and of a permit semaphore.
func MayHold(key string, v store.Value) bool {
	switch v.(type) {
	case *store.Hash:
		return true
	case *store.List:
		return IsQueue(key)
	case *store.ZSet:
		return IsQueue(key) || strings.HasSuffix(key, permitsSuffix)
	}
	return false
}

// permitsSuffix ends the keys of lockkeys.PermitTimeouts.
const permitsSuffix = ":timeout"

// IsQueue reports whether a key belongs to a fair lock's queue.
func IsQueue(key string) bool {
	_, ok := lockkeys.FairName(key)
	return ok
}

// IsQueueKey is IsQueue for a key that is no string. It allocates nothing.
func IsQueueKey(key []byte) bool { return IsQueue(unsafe.String(unsafe.SliceData(key), len(key))) }
