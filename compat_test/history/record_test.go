package history

import (
	"fmt"
	"strings"
	"sync"
	"time"
)

// verb is the action of an operation.
type verb string

const (
	acquire verb = "acquire" // lock, or take N permits
	release verb = "release" // unlock, or release N permits, or the permits of operation Of
	enter   verb = "enter"   // the owner re-enters its hold, without a request
	exit    verb = "exit"    // the owner releases a hold that re-entered, without a request
	force   verb = "force"   // N is 1 when the lock was held
	count   verb = "count"   // N is the owner's hold count on the server, the free permits, or a latch's count
	locked  verb = "locked"  // N is 1 when any owner holds it
	end     verb = "end"     // the lease that operation Of set ends
	drop    verb = "drop"    // a client releases a lost hold, if it still exists on the server
	undo    verb = "undo"    // operation Of, with an unknown outcome, is undone
	ask     verb = "ask"     // the owner joins a fair queue
	leave   verb = "leave"   // the owner of operation Of leaves the queue
	evict   verb = "evict"   // the same by another client; may not happen
	begin   verb = "begin"   // from here on a multi-lock may hold this part for moments
	finish  verb = "finish"  // until here
	update  verb = "update"  // a new lease for the owner's lock, or for the permit of operation Of
	renew   verb = "renew"   // the watchdog sets the owner's lease, if the owner holds the lock
	add     verb = "add"     // adds N permits
	set     verb = "set"     // sets N permits or counts, if none are set
	drain   verb = "drain"   // acquires all free permits: N
)

// result is the result of an operation.
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

// op is one operation of a history: the input of a model's step, with its result.
type op struct {
	ID     int
	Owner  int
	What   verb
	Result result
	Key    string // the lock, if a program has several
	Mode   mode
	N      int
	Of     int // another operation's ID
	Token  int64

	Lax       bool // the owner's lease may have ended
	Contended bool // of ask: the lock was not free at once
	Optional  bool // may be left out, although the result is known

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
		{"", o.Mode, o.Mode != whole}, {"", o.Key, o.Key != ""}, {"of #", o.Of, o.Of != 0},
		{"n=", o.N, o.N != 0}, {"token=", o.Token, o.Token != 0}, {"", "lax", o.Lax},
		{"", "contended", o.Contended}, {"", "optional", o.Optional},
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

// stamp is a moment of a history: nanoseconds since its start, and a counter, because
// virtual time stands still while code runs.
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
	allowance time.Duration // for leases, which Redis counts in ms
	slack     time.Duration // for requests whose callers stopped waiting

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

// owner returns the number of a new owner.
func (r *recorder) owner() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.owners++
	return r.owners
}

// begin records that o has begun. add puts it into the history.
func (r *recorder) begin(o op) *op {
	o.ID = r.id()
	o.Call = r.now()
	return &o
}

// add puts an operation into the history. It ends now unless it has an end.
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

// late returns the time until which a call that returned at s may still happen.
func (r *recorder) late(s stamp) stamp { return s.plus(r.slack) }
