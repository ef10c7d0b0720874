package simulation

import (
	"slices"
	"strconv"

	"github.com/lockredis/lockredis/store"
)

type lockKind uint8

const (
	plain lockKind = iota
	spin
	fenced
	fair
	readWrite
)

func (k lockKind) String() string {
	return [...]string{"lock", "spin", "fenced", "fair", "rw"}[k]
}

// lock is a lock as the replies describe it: its holders and their deadlines. After
// every command the stored data must agree with it.
type lock struct {
	w     *world
	kind  lockKind
	name  string
	keys  []string // besides the name
	holds []*hold  // of all owners that may hold it or be in its queue, also of crashed clients

	until int64   // readWrite: the deadline of the hash
	token int64   // fenced: the last token
	queue []*hold // fair
	// patience is how long a fair lock's waiters wait for each other.
	patience int64
}

// live reports whether h holds its lock, by the server's clock.
func (h *hold) live() bool { return h.count > 0 && h.end() > h.l.w.server() }

// end returns the stored end of h's lease.
func (h *hold) end() int64 {
	if h.l.kind == readWrite {
		return h.l.until
	}
	return h.until
}

// ends returns when the last lease ends, 0 if there is none.
func (l *lock) ends() (at int64) {
	for _, h := range l.holds {
		if h.live() {
			at = max(at, h.end())
		}
	}
	return at
}

// excludes reports whether h and o may not hold the lock at the same time.
func (h *hold) excludes(o *hold) bool {
	return h != o && (h.l.kind != readWrite || h.owner != o.owner && !(h.reads && o.reads))
}

// holder returns an owner that excludes h, nil if the lock is free for h.
func (l *lock) holder(h *hold) *hold {
	for _, o := range l.holds {
		if h.excludes(o) && o.live() {
			return o
		}
	}
	return nil
}

// freeFor reports whether h would be granted the lock now.
func (l *lock) freeFor(h *hold) bool {
	switch {
	case l.holder(h) != nil:
		return false
	case l.kind == fair:
		first := l.head(false)
		return first == nil || first == h
	case l.kind == readWrite && !h.reads: // its own read hold excludes it too
		return !slices.ContainsFunc(l.holds, func(o *hold) bool { return o.live() && o != h })
	}
	return true
}

// held reports whether any owner holds the lock.
func (l *lock) held() bool { return slices.ContainsFunc(l.holds, (*hold).live) }

// readBy reports whether h, which wants to write, has an owner that reads.
func (l *lock) readBy(h *hold) bool {
	return l.kind == readWrite && !h.reads && slices.ContainsFunc(l.holds, func(o *hold) bool {
		return o != h && o.owner == h.owner && o.live()
	})
}

// written reports whether the read-write lock has a writer.
func (l *lock) written() bool {
	return slices.ContainsFunc(l.holds, func(o *hold) bool { return !o.reads && o.live() })
}

// lapse forgets holds whose lease has ended.
func (l *lock) lapse() {
	held := false
	for _, h := range l.holds {
		if !h.live() {
			h.count = 0
		}
		held = held || h.count > 0
	}
	if !held {
		l.until = gone
	}
}

// granted records that h acquired the lock. again means that it had it already.
func (l *lock) granted(h *hold, lease int64) (again bool) {
	w := l.w
	if o := l.holder(h); o != nil {
		w.fail(ruleOwner, "%s was granted to %s while %s holds it for %d ms more", l.name, h.field,
			o.field, o.end()-w.server())
	}
	live := h.live()
	switch {
	case !live && l.kind != fair && !l.freeFor(h):
		w.fail(ruleOwner, "%s was granted to %s, whose owner reads it", l.name, h.field)
	case !live:
		h.count = 1
	default:
		again = true
	}
	at := w.server() + lease
	switch {
	case l.kind != readWrite && live:
		h.until = max(h.until, at)
	case l.kind != readWrite:
		h.until = at
	default:
		l.until = max(l.until, at)
	}
	return again
}

// refused records that h has to wait.
func (l *lock) refused(h *hold, ttl int64) {
	w := l.w
	o := l.holder(h)
	if o == nil && l.kind == readWrite && !h.reads {
		i := slices.IndexFunc(l.holds, func(o *hold) bool { return o != h && o.live() })
		if i >= 0 {
			o = l.holds[i]
		}
	}
	switch {
	case h.live():
		w.fail(ruleReply, "%s was refused to its owner %s", l.name, h.field)
	case o == nil && l.kind == fair:
		first := l.head(false)
		if first == nil || first == h {
			w.fail(ruleReply, "%s is free, and was refused to %s", l.name, h.field)
		}
		if want := min(30_000, first.turn-l.w.server()); ttl != want {
			w.fail(ruleReply, "%s told %s to wait for %d ms, not %d", l.name, h.field, ttl, want)
		}
	case o == nil:
		w.fail(ruleReply, "%s is free, and was refused to %s", l.name, h.field)
	default:
		want := o.end() - w.server()
		if l.kind == fair {
			want = min(want, max(1, l.patience/2))
		}
		if ttl != want {
			w.fail(ruleReply, "%s told %s to wait for %d ms, not %d", l.name, h.field, ttl, want)
		}
	}
}

// released records the reply of a release. The claim's latch then lives for lives ms.
func (l *lock) released(h *hold, c *claim, lives int64, reply any) {
	w := l.w
	if answer, ok := w.answered(c.latch); ok {
		if reply != answer {
			w.fail(ruleReply, "%s answers %s %v when asked again, after %d", l.name, h.field, reply, answer)
		}
		return
	}
	if !h.live() {
		h.count = 0
	}
	want := int64(-1)
	if h.count == 1 {
		want = 1
	}
	if reply != want {
		w.fail(ruleReply, "%s has %d holds of %s, whose release answers %v", l.name, h.count, h.field, reply)
	}
	w.latchFor(c.latch, want, lives)
	if want == -1 {
		if l.kind == fair {
			l.left(h)
		}
		return
	}
	h.count = 0
	if l.kind == readWrite {
		l.ended()
	} else {
		l.wakeHead()
	}
}

// ended sets the deadline that a read-write lock has after a hold ended: the longest
// of the other leases.
func (l *lock) ended() {
	l.until = l.w.deadline(l.name)
	if l.until == gone {
		for _, h := range l.holds {
			h.count = 0
		}
	}
}

// renewed records a renewal's reply.
func (l *lock) renewed(h *hold, c *claim, lease, place int64, shorten bool, reply any) {
	w := l.w
	_, latched := w.latched(c.latch)
	last := w.latches[c.latch]
	over := place != 0 && latched && !last.sealed
	overtaken := place != 0 && latched && lease != 0 && last.place > place
	want := int64(1)
	switch {
	case !h.live() || over:
		want = 0
	case overtaken:
		want = 2
	}
	if reply != want {
		w.fail(ruleReply, "%s: a renewal of %s answers %v", l.name, h.field, reply)
	}
	switch {
	case h.live() && over:
		w.count("change of a claim that is over")
		return
	case !h.live() || lease == 0:
		return
	}
	at := w.server() + lease
	if place != 0 {
		if latched && last.place >= place {
			w.count("renewal overtaken")
			return
		}
		w.order(c.latch, place)
	}
	switch {
	case l.kind != readWrite && shorten:
		h.until = at
	case l.kind != readWrite:
		h.until = max(h.until, at)
	case shorten && !h.reads && !l.readBy(h):
		l.until = at
	case shorten && h.reads && !l.written() && l.until > at: // the longest lease of the readers
		end := w.deadline(l.name)
		if end < at || end > l.until {
			w.fail(ruleStored, "%s ends at %d, not from %d to %d", l.name, end, at, l.until)
		}
		l.until = end
	default:
		l.until = max(l.until, at)
	}
}

// forced records an unlock by force, of readers or of a writer.
func (l *lock) forced(latch string, reads bool, reply any) {
	w := l.w
	if answer, ok := w.latched(latch); ok {
		if reply != answer {
			w.fail(ruleReply, "%s: an unlock by force answers %v, after %d", l.name, reply, answer)
		}
		return
	}
	any, writer := false, false
	for _, h := range l.holds {
		any = any || h.live()
		writer = writer || h.live() && !h.reads
	}
	if l.kind == readWrite {
		any = any && writer == !reads
	}
	if any != (reply == int64(1)) {
		w.fail(ruleReply, "%s: an unlock by force answers %v", l.name, reply)
	}
	if !any {
		w.latch(latch, 0)
		return
	}
	w.latch(latch, 1)
	l.until = gone
	for _, h := range l.holds {
		h.count, h.trust, h.voided = 0, 0, w.now
	}
	l.wakeHead()
}

// The queue of a fair lock. Owners whose deadline has passed are removed.

// head returns the first owner in the queue, nil if there is none. With drop it
// forgets the removed owners.
func (l *lock) head(drop bool) *hold {
	i := 0
	for i < len(l.queue) && l.queue[i].turn <= l.w.server() {
		i++
	}
	rest := l.queue[i:]
	if drop {
		for _, h := range l.queue[:i] {
			l.w.count("passed over")
			h.turn = 0
		}
		l.queue = append([]*hold(nil), rest...)
	}
	if len(rest) == 0 {
		return nil
	}
	return rest[0]
}

func (l *lock) wakeHead() {
	if l.kind == fair {
		l.offer(nil)
	}
}

// offer gives the first owner in the queue of a free lock patience to acquire it, unless it
// is me.
func (l *lock) offer(me *hold) *hold {
	first := l.head(true)
	if last := l.w.server() + l.patience; first != nil && first != me && first.turn > last {
		l.w.count("deadline lowered")
		first.turn = last
	}
	return first
}

// asked records the effect of an acquisition on the queue, before its result is
// recorded.
func (l *lock) asked(h *hold, granted, waits bool) {
	if l.kind != fair || h.live() {
		return
	}
	var first *hold
	if l.held() {
		first = l.head(true)
	} else {
		first = l.offer(h)
	}
	switch {
	case granted:
		if first == h {
			l.queue = l.queue[1:]
			l.w.count("served in turn")
		} else if first != nil {
			l.w.fail(ruleQueue, "%s was granted to %s, before %s", l.name, h.field, first.field)
		}
		h.turn = 0
		for _, o := range l.queue {
			o.turn -= l.patience
		}
	case waits && h.turn == 0:
		turn := l.w.server()
		if n := len(l.queue); n > 0 {
			turn = l.queue[n-1].turn
		} else if o := l.holder(h); o != nil {
			turn += o.end() - l.w.server()
		}
		h.turn = turn + l.patience
		l.queue = append(l.queue, h)
	}
}

// left records that h has left the queue. It does not hold the lock.
func (l *lock) left(h *hold) {
	if i := slices.Index(l.queue, h); i >= 0 {
		l.w.count("left the queue")
		l.queue = slices.Delete(l.queue, i, i+1)
		h.turn = 0
		for _, o := range l.queue[i:] {
			o.turn -= l.patience
		}
	}
	if !l.held() {
		l.offer(nil)
	}
}

// check compares the stored data with the replies, and the clients' beliefs with both.
func (l *lock) check() {
	l.checkStored()
	if l.kind == fair {
		l.checkQueue()
	}
	for _, h := range l.holds {
		if h.trusts() {
			l.checkTrust(h)
		} else if h.flight == nil && !h.c.crashed && h.live() {
			l.checkOwned(h)
		}
	}
}

// checkOwned checks that an owner that holds the lock has a client that knows it, or
// will ask soon.
func (l *lock) checkOwned(h *hold) {
	w := l.w
	switch h.state {
	case idle:
		w.fail(ruleOwned, "%s is held by %s, which wants nothing", l.name, h.field)
	case waiting:
		asks := h.woken || !h.asked || h.wakeAt <= w.now+pollStrays
		if h.now.strays == 0 || !asks {
			w.fail(ruleOwned, "%s is held by %s, which waits for %d ms more", l.name, h.field,
				h.wakeAt-w.now)
		}
	case holding:
		if h.count > h.expected() {
			w.fail(ruleOwned, "%s is held %d times by %s, not %d times", l.name, h.count, h.field,
				h.expected())
		}
	}
}

func (l *lock) checkStored() {
	w := l.w
	want := map[string]int{}
	deadline := int64(gone)
	mode := ""
	for _, h := range l.holds {
		if h.live() {
			want[h.field] = h.count
			deadline = h.end()
			if mode != "write" {
				mode = "write"
				if h.reads {
					mode = "read"
				}
			}
		}
	}
	db := w.e.Env().Space.DB(0)
	e := db.Peek([]byte(l.name))
	if e == nil {
		if deadline != gone {
			w.fail(ruleStored, "%s is gone, and should have %v", l.name, want)
		}
		return
	}
	if db.Deadline(e) != deadline {
		w.fail(ruleStored, "%s ends at %d, not %d", l.name, db.Deadline(e), deadline)
	}
	fields := 0
	e.Value().(*store.Hash).Each(func(field, value []byte) bool {
		fields++
		if string(field) == "mode" && l.kind == readWrite {
			fields--
			if string(value) != mode {
				w.fail(ruleStored, "%s is in mode %s, not %s", l.name, value, mode)
			}
		} else if n := strconv.Itoa(want[string(field)]); string(value) != n {
			w.fail(ruleStored, "%s has %s holds of %s, not %s", l.name, value, field, n)
		}
		return true
	})
	if fields != len(want) {
		w.fail(ruleStored, "%s has %d owners, not %d", l.name, fields, len(want))
	}
}

// checkQueue checks the two keys of the queue.
func (l *lock) checkQueue() {
	w := l.w
	n := 0
	if e := w.e.Env().Space.DB(0).Peek([]byte(l.keys[0])); e != nil {
		list := e.Value().(*store.List)
		for n = range list.Len() {
			if n >= len(l.queue) || string(list.At(n)) != l.queue[n].owner {
				w.fail(ruleQueue, "%s has %s at place %d of its queue", l.name, list.At(n), n)
			}
		}
		n++
	}
	if n != len(l.queue) {
		w.fail(ruleQueue, "%s has %d in its queue, not %d", l.name, n, len(l.queue))
	}
	e := w.e.Env().Space.DB(0).Peek([]byte(l.keys[1]))
	if (e == nil) != (n == 0) {
		w.fail(ruleQueue, "%s has %d in its queue, and whether they have times is %v", l.name, n,
			e != nil)
	}
	if e == nil {
		return
	}
	times := e.Value().(*store.ZSet)
	if times.Len() != n {
		w.fail(ruleQueue, "%s has %d in its queue, and times of %d", l.name, n, times.Len())
	}
	for _, h := range l.queue {
		if score, _ := times.Score([]byte(h.owner)); int64(score) != h.turn {
			w.fail(ruleQueue, "%s waits for %s until %d, not %d", l.name, h.owner, int64(score), h.turn)
		}
	}
}

// checkTrust compares h's trust with the trust of the other holds, and with the stored
// data.
func (l *lock) checkTrust(h *hold) {
	w := l.w
	for _, o := range l.holds {
		if h.excludes(o) && o.trusts() {
			w.fail(ruleOwner, "%s and %s both trust to hold %s", h.field, o.field, l.name)
		}
	}
	switch {
	case !h.live():
		w.fail(ruleTrust, "%s trusts to hold %s for %d ms more", h.field, l.name, h.trust-w.now)
	case h.end()-w.server() < h.trust-w.now:
		w.fail(ruleTrust, "%s trusts to hold %s for %d ms, and does for %d", h.field, l.name,
			h.trust-w.now, h.end()-w.server())
	case h.count < h.expected(), h.flight == nil && h.count != h.expected():
		w.fail(ruleTrust, "%s trusts to hold %s %d times, and does %d times", h.field, l.name,
			h.expected(), h.count)
	}
	if !h.reads {
		return
	}
	end := w.deadline(h.timeout(1))
	if end-w.server() < h.trust-w.now {
		w.fail(ruleTrust, "%s trusts to read %s for %d ms, and its key ends after %d", h.field, l.name,
			h.trust-w.now, end-w.server())
	}
}

// sleepers returns the waiters for which the lock is not free.
func (l *lock) sleepers() (asleep []*hold) {
	if l.kind == spin { // waiters are not woken
		return nil
	}
	for _, h := range l.holds {
		if h.settled() && !l.freeFor(h) {
			asleep = append(asleep, h)
		}
	}
	return asleep
}

// checkWoken checks that the sleepers for which the lock has become free were woken.
func (l *lock) checkWoken(asleep []*hold) {
	for _, h := range asleep {
		if h.settled() && l.freeFor(h) && !h.live() { // checkOwned checks a hold of its own
			l.w.fail(ruleWake, "%s has become free to %s, which sleeps for %d ms more", l.name, h.field,
				h.wakeAt-l.w.now)
		}
	}
}

// checkTimes checks, after time has passed, that no waiter sleeps beside a lock whose
// lease has ended. It skips waiters that were told of a lease that was then shortened. A
// read-write lock's lease is shortened when a reader leaves. Any lease is shortened when
// it is set again after the server's clock was set back. It skips fair locks, because a
// waiter may wait for another waiter that does not come.
func (l *lock) checkTimes() {
	if l.kind == fair {
		return
	}
	for _, h := range l.holds {
		if h.settled() && !h.shortened && h.wakeAt > l.w.now+l.grace()+h.lag && l.freeFor(h) && !h.live() {
			l.w.fail(ruleWake, "%s is free, and %s sleeps for %d ms more", l.name, h.field, h.wakeAt-l.w.now)
		}
	}
}

// grace is how much longer than the holder's lease a waiter may sleep.
func (l *lock) grace() int64 {
	if l.kind == spin {
		return 128
	}
	return 1
}

// bury forgets holds of crashed clients that have no stored state and no late copies.
func (l *lock) bury() {
	l.holds = slices.DeleteFunc(l.holds, func(h *hold) bool {
		return h.c.crashed && h.strays == 0 && !h.live() && h.turn == 0
	})
}
