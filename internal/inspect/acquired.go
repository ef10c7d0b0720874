package inspect

import "bytes"

// Acquired tells how often an owner has acquired a lock, and when it last did. It may have released
// the lock.
type Acquired struct {
	DB    int
	Name  string // the lock
	Owner string // as in Holder
	Count int64
	Since int64 // the last time, Unix ms
	By    Origin
}

// maxHistory is how many owners and locks a History remembers.
const maxHistory = 64

// History is which owners have acquired which locks last. A look at the held locks cannot tell it: a
// thread that locks in a loop may hold nothing just then. The zero History is empty.
type History struct {
	list []Acquired
	last int // position of the last acquisition
}

// Add adds an acquisition by the owner in a hash's field. entry has its time and its client. Another
// pair of owner and lock makes room, the one that was acquired before all others. A multi-lock over a
// group of values is not remembered.
func (h *History) Add(db int, name string, field []byte, entry *Entry) {
	if bytes.HasSuffix(field, []byte(countEnd)) {
		return
	}
	owner := bytes.TrimSuffix(field, []byte(writeEnd))
	h.last = h.position(db, name, owner)
	a := &h.list[h.last]
	if a.Count == 0 {
		a.DB, a.Name, a.Owner = db, name, string(owner)
	}
	a.Count++
	a.Since, a.By = entry.Since, entry.By
}

// position returns the position of an owner and a lock. Count is 0 there if they are new.
func (h *History) position(db int, name string, owner []byte) int {
	is := func(a *Acquired) bool { return a.DB == db && a.Name == name && a.Owner == string(owner) }
	if len(h.list) > 0 && is(&h.list[h.last]) {
		return h.last
	}
	oldest := 0
	for i := range h.list {
		if is(&h.list[i]) {
			return i
		}
		if h.list[i].Since < h.list[oldest].Since {
			oldest = i
		}
	}
	if len(h.list) < maxHistory {
		h.list = append(h.list, Acquired{})
		return len(h.list) - 1
	}
	h.list[oldest] = Acquired{}
	return oldest
}

// All returns the history, in no order. It is valid while the caller's unit runs.
func (h *History) All() []Acquired { return h.list }
