package faults

import (
	"slices"
	"sync"
	"time"

	"github.com/lockredis/lockredis/internal/stall"
)

// record has all that the workers saw. Times are measured from the start of the run by a
// clock that stands still while this process does not run.
type record struct {
	clock *stall.Meter

	mu     sync.Mutex // guards the fields below
	grants []grant
	waits  []waiting
	events []event
	faults int // of all networks and of events
	errs   map[string]int
	faulty []violation // found by workers
}

// grant is the time in which an owner believed to hold a lock or permits.
type grant struct {
	name, owner string
	process     int
	shared      bool // a read hold
	n           int  // permits; 1 for locks
	token       int64
	asked       time.Duration // the call began
	from, to    time.Duration
	lost        bool          // the owner was told that the hold is lost
	late        time.Duration // from the end of the owner's trust until it was told
	how         string        // how the hold ended, for messages

	contended           time.Duration // the owner began to wait; 0: not known
	faultsAsked, faults int           // at asked and at from
}

// waiting is the time of one acquisition.
type waiting struct {
	name     string // "" for a multi-lock
	process  int
	from, to time.Duration
	patient  bool // it waits long enough to be served
}

// event is a fault of a process or of a server.
type event struct {
	what     string
	process  int // -1: of a server
	from, to time.Duration
	loss     bool // the server lost its data
}

// violation is a broken rule.
type violation struct {
	rule, what string
	at         time.Duration
}

func (r *record) now() time.Duration { return r.clock.Running() }

func (r *record) grant(g grant) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.grants = append(r.grants, g)
}

func (r *record) granted() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.grants)
}

func (r *record) waiting(w waiting) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waits = append(r.waits, w)
}

// begin notes the begin of an event and returns the function that notes its end.
func (r *record) begin(what string, process int, loss bool) (end func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := len(r.events)
	r.faults++
	r.events = append(r.events, event{what: what, process: process, loss: loss,
		from: r.now(), to: 1 << 62})
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.faults++
		r.events[i].to = r.now()
	}
}

// had reports whether there was an event in a time.
func (r *record) had(what string, from, to time.Duration) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.events, func(e event) bool {
		return e.what == what && e.from <= to && from <= e.to
	})
}

func (r *record) violate(rule, what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.faulty = append(r.faulty, violation{rule, what, r.now()})
}

func (r *record) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.errs[errorKind(err)]++
}
