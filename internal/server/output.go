package server

import (
	"io"
	"sync"
	"time"

	"github.com/lockredis/lockredis/internal/config"
	"github.com/lockredis/lockredis/internal/engine"
)

// output is a connection's queue of encoded bytes. Whoever appends flushes
// later; at any time at most one goroutine writes, so the bytes keep their
// order.
type output struct {
	link    link
	enforce func() // enforceOutputLimit, inside the engine

	mu      sync.Mutex // guards the fields below
	cond    sync.Cond  // signalled when writing ends
	queue   []byte
	rest    []byte // what is left of the buffer that is being written
	buffer  []byte // that buffer
	spare   []byte // the buffer that was written last
	writing bool
	waiting bool        // writing goes on when the client has read, see goOn
	broken  bool        // the socket failed or the client was cut off
	over    time.Time   // since when the soft limit is passed
	soft    int64       // that limit, as of when it was last checked
	check   *time.Timer // enforces it when its time is over
}

// keep is the size of buffer that an idle connection may keep, in bytes.
const keep = 4 << 10

// piece is how much is written to a slow reader at a time, in bytes: what it
// has taken counts no longer against its limit.
const piece = 256 << 10

// maxUnauthOutput is how much a client may leave unread before AUTH, in bytes:
// about what Redis, with the fix of CVE-2025-21605, leaves to it.
const maxUnauthOutput = 16 << 10

// drainTime is how long a closed connection's last replies may take.
const drainTime = 10 * time.Second

func (o *output) init(c *conn) {
	o.link = c.link
	o.enforce = func() { c.server.engine.Do(&engine.Caller{}, c.enforceOutputLimit) }
	o.cond.L = &o.mu
}

// append queues bytes. It reports whether the queue was empty, so that someone
// has to flush, and how much is unread now; ok is false when the connection is
// broken.
func (o *output) append(encoded []byte) (first bool, size int, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.broken {
		return false, 0, false
	}
	first = len(o.queue) == 0
	o.queue = append(o.queue, encoded...)
	return first, len(o.queue) + len(o.rest), true
}

func (o *output) size() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.queue) + len(o.rest)
}

func (o *output) dead() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.broken
}

// empty reports whether there is nothing to write, or no way to.
func (o *output) empty() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.broken || len(o.queue)+len(o.rest) == 0
}

// flush writes what the socket takes without waiting, and leaves the rest to
// the link.
func (o *output) flush() {
	o.mu.Lock()
	if !o.writing && len(o.queue) > 0 && !o.broken {
		o.writing = true
		o.pump()
	}
	o.mu.Unlock()
}

// goOn writes on after wantsMore.
func (o *output) goOn() {
	o.mu.Lock()
	if o.waiting {
		o.waiting = false
		o.pump()
		if !o.waiting && !o.broken {
			o.link.hasAll()
		}
	}
	o.mu.Unlock()
}

// pump writes all that is queued, or as much as the socket takes. The lock is
// held, but not while it writes.
func (o *output) pump() {
	for o.next() {
		b := o.rest
		o.mu.Unlock()
		n, err := o.link.write(b)
		o.mu.Lock()
		if err != nil {
			o.fail()
		}
		if o.broken {
			break
		}
		if o.rest = b[n:]; n < len(b) {
			o.waiting = true
			o.link.wantsMore()
			return
		}
	}
	o.stopWriting()
}

// writeAll writes all that is queued, however long it takes.
func (o *output) writeAll(w io.Writer) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.waiting = false
	for o.next() {
		b := o.rest
		o.mu.Unlock()
		n, err := w.Write(b[:min(len(b), piece)])
		o.mu.Lock()
		if err != nil {
			o.fail()
		} else if !o.broken {
			o.rest = b[n:]
		}
	}
	o.stopWriting()
}

// next makes sure that there is a rest to write, and reports false when there
// is none.
func (o *output) next() bool {
	if int64(len(o.queue)+len(o.rest)) <= o.soft {
		o.over = time.Time{}
	}
	if o.broken || len(o.rest) > 0 {
		return !o.broken
	}
	if o.buffer != nil && cap(o.buffer) <= keep {
		o.spare = o.buffer[:0]
	}
	o.buffer = nil
	if len(o.queue) > 0 {
		o.rest, o.buffer = o.queue, o.queue
		o.queue, o.spare = o.spare, nil
	}
	return len(o.rest) > 0
}

// fail drops everything; the connection ends with its next read.
func (o *output) fail() {
	o.shut()
	o.link.kill()
}

func (o *output) stopWriting() {
	o.writing = false
	o.cond.Broadcast()
}

// drain writes what is queued, as long as the socket does not fail.
func (o *output) drain() {
	o.flush()
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.writing {
		o.cond.Wait()
	}
	o.shut()
}

// close ends all writing and calls end.
func (o *output) close(end func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.writing && !o.waiting {
		o.cond.Wait()
	}
	o.shut()
	end()
}

func (o *output) shut() {
	if o.check != nil {
		o.check.Stop()
	}
	o.broken = true
	o.queue, o.rest, o.buffer, o.spare = nil, nil, nil, nil
}

// enforceOutputLimit cuts a client off that leaves too much unread
// (client-output-buffer-limit). It is called inside the engine.
func (c *conn) enforceOutputLimit() {
	if c.out.exceeds(c.outputLimit(), c.server.clock.Now()) {
		c.server.log.Warn("client closed for overcoming of output buffer limits", "client", c.session.ID)
	}
}

// outputLimit returns what the client may leave unread.
func (c *conn) outputLimit() config.OutputLimit {
	switch {
	case c.locked():
		return config.OutputLimit{Hard: maxUnauthOutput}
	case c.session.Subscribed():
		return c.server.cfg.OutputLimits[config.PubSubClient]
	}
	return c.server.cfg.OutputLimits[config.NormalClient]
}

// within reports whether nobody has to look closer at so many unread bytes.
func within(limit config.OutputLimit, size int64) bool {
	return (limit.Hard == 0 || size <= limit.Hard) && (limit.Soft == 0 || size <= limit.Soft)
}

// exceeds checks the limit and breaks the connection when it is passed.
func (o *output) exceeds(limit config.OutputLimit, now time.Time) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	size := int64(len(o.queue) + len(o.rest))
	if o.broken {
		return false
	}
	o.soft = limit.Soft
	over := limit.Hard > 0 && size > limit.Hard
	if soft := limit.Soft > 0 && size > limit.Soft; !soft {
		o.over = time.Time{}
	} else if o.over.IsZero() {
		o.over = now
		o.checkAfter(time.Duration(limit.SoftSeconds)*time.Second + time.Millisecond)
	} else if now.Sub(o.over) > time.Duration(limit.SoftSeconds)*time.Second {
		over = true
	}
	if over {
		o.fail()
	}
	return over
}

// checkAfter has the limit enforced again after d, for it holds without further
// output, too. o.mu is held.
func (o *output) checkAfter(d time.Duration) {
	if o.check != nil {
		o.check.Reset(d)
		return
	}
	o.check = time.AfterFunc(d, o.enforce)
}
