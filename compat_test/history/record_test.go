package history

import (
	"fmt"
	"strings"
	"sync"
	"time"
)

// verb is what an operation does, as the models know it.
type verb string

const (
	acquire verb = "acquire" // lock, or take N permits
	release verb = "release" // unlock, or give back N permits, or those of operation Of
	force   verb = "force"   // N is 1 when there was something to unlock
	count   verb = "count"   // the owner's holds, the free permits, a latch's count: N
	locked  verb = "locked"  // N is 1 when anybody holds it
	end     verb = "end"     // the lease that operation Of set is over
	drop    verb = "drop"    // a client releases what it has lost, if the server does not know
	undo    verb = "undo"    // operation Of, of which nobody knew, is taken back
	ask     verb = "ask"     // a place in a fair queue
	leave   verb = "leave"   // the place of operation Of is given up
	evict   verb = "evict"   // the same, by others, if at all
	begin   verb = "begin"   // from here on a multi-lock may hold this part for moments
	finish  verb = "finish"  // to here
	update  verb = "update"  // a new lease for the permit of operation Of
	add     verb = "add"     // N permits more
	set     verb = "set"     // N permits or counts, if there are none set
	drain   verb = "drain"   // all free permits: N
)

// result is what an operation came to.
type result string

const (
	ok      result = "ok"
	refused result = "refused"
	lost    result = "lost"     // ErrLockLost
	notHeld result = "not held" // ErrNotHeld
	unknown result = "unknown"
)

// mode is the half of a read-write lock.
type mode string

const (
	whole mode = ""
	read  mode = "read"
	write mode = "write"
)

// op is one operation of a history. It is the input of a model's step; what came
// out is in it too.
type op struct {
	ID     int
	Owner  int
	What   verb
	Result result
	Key    string // the lock, where a program has several
	Mode   mode
	N      int
	Of     int // another operation's ID
	Token  int64

	Lax       bool // the owner's lease may be over
	Contended bool // of ask: it could not be served at once
	Optional  bool // may be left out, though the result is known

	Call, Return stamp
}

func (o *op) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "#%-3d owner %-2d %s", o.ID, o.Owner, o.What)
	for _, w := range []struct {
		label string
		value any
		shown bool
	}{
		{"", o.Mode, o.Mode != whole}, {"", o.Key, o.Key != ""}, {"of #", o.Of, o.Of != 0}, {"n=", o.N, o.N != 0},
		{"token=", o.Token, o.Token != 0}, {"", "lax", o.Lax}, {"", "contended", o.Contended}, {"", "optional", o.Optional},
	} {
		if w.shown {
			fmt.Fprintf(&b, " %s%v", w.label, w.value)
		}
	}
	if o.Result != ok && o.Result != "" {
		fmt.Fprintf(&b, ": %s", o.Result)
	}
	return b.String()
}

// stamp is a moment of a history: nanoseconds since its start, and then a
// counter, because virtual time stands still while things happen.
type stamp int64

const counterBits = 20

func (s stamp) time() time.Duration { return time.Duration(s >> counterBits) }

func (s stamp) String() string {
	return fmt.Sprintf("%9.3fms/%d", float64(s.time())/1e6, s&(1<<counterBits-1))
}

// plus returns the first moment that is d later.
func (s stamp) plus(d time.Duration) stamp { return stamp(s.time()+d) << counterBits }

const never stamp = 1<<63 - 1

// recorder collects operations.
type recorder struct {
	start     time.Time
	allowance time.Duration // for the millisecond that leases are counted in
	slack     time.Duration // for commands whose callers have left

	mu     sync.Mutex // guards the fields below
	last   stamp
	ids    int
	owners int
	ops    []*op
}

func newRecorder(slack time.Duration) *recorder {
	return &recorder{start: time.Now(), allowance: 2 * time.Millisecond, slack: slack}
}

// now returns a moment later than all before.
func (r *recorder) now() stamp {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last = max(r.last+1, stamp(time.Since(r.start))<<counterBits)
	return r.last
}

// id returns a number that no other operation has.
func (r *recorder) id() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ids++
	return r.ids
}

// owner returns a new owner's number.
func (r *recorder) owner() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.owners++
	return r.owners
}

// begin notes that o is under way. It is part of the history from add on.
func (r *recorder) begin(o op) *op {
	o.ID = r.id()
	o.Call = r.now()
	return &o
}

// add puts an operation into the history, which ends now unless it has an end.
func (r *recorder) add(o *op) {
	if o.ID == 0 {
		o.ID = r.id()
	}
	if o.Return == 0 {
		o.Return = r.now()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ops = append(r.ops, o)
}

// late is the time until which a call that returned at s may still happen.
func (r *recorder) late(s stamp) stamp { return s.plus(r.slack) }
