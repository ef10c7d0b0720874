package server

import (
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/engine"
)

// output is a connection's queue of encoded bytes. A goroutine appends under the
// engine's lock and flushes later. At most one goroutine writes at a time, so the
// bytes keep the order of the replies, confirmations and messages of the connection.
// A subscriber that stops reading is disconnected at client-output-buffer-limit.
//
// Bytes move from queue to rest, and from rest to the socket:
//
//	append --> queue --> rest (the unwritten end of buffer) --> link.write
//
// Bytes of a slow client that queue has no room for wait in blocks behind it. A queue that
// grew instead would leave a copy of all its bytes to the garbage collector each time.
type output struct {
	link    link
	traffic *traffic
	enforce func() // runs conn.enforceOutputLimit inside the engine
	freed   func() // Config.Freed; may be nil

	// broken: the socket failed or the client was disconnected. It is set under mu, and read without
	// it, too.
	broken atomic.Bool

	mu       sync.Mutex // guards the fields below
	cond     sync.Cond  // signalled when writing becomes false
	queue    []byte
	blocks   [][]byte    // behind queue; nil if queue is empty
	blocked  int         // the bytes in blocks
	blockCap int         // the bytes that blocks can hold
	counted  bufferCount // see count
	rest     []byte      // the unwritten bytes of buffer
	buffer   []byte      // the buffer that is being written
	spare    []byte      // an empty buffer, to be the next queue
	writing  bool        // a goroutine writes, or waiting is true
	waiting  bool        // the socket is full; resume or writeAll continues
	slow     bool        // writeAll writes: the socket was full
	overSoft time.Time   // since when the soft limit is exceeded; zero: it is not
	peak     int         // the longest queue of one flush
	soft     uint64      // the soft limit at the last check
	check    *time.Timer // checks again when the soft limit's time is over
}

// maxIdleBuffer is the largest buffer, in bytes, that is kept for reuse.
const maxIdleBuffer = 4 << 10

// queue grows up to minBlock bytes. A block has at least minBlock bytes, and at most maxBlock
// unless a single reply is larger. Between them it has a quarter of all unread bytes.
const (
	minBlock = 16 << 10
	maxBlock = 256 << 10
)

// slowWrite is how many bytes are written to a slow client at a time. Bytes that the
// client has taken no longer count against its limit.
const slowWrite = 256 << 10

// drainTime is how long a closed connection's last replies may take.
const drainTime = 10 * time.Second

// largeBuffer is how many bytes a client that has gone leaves, unread output or input, for a call
// of Config.Freed.
const largeBuffer = 4 << 20

// tellFreed calls freed, unless it is nil, when a client leaves a large buffer. size is in bytes.
func tellFreed(freed func(), size int) {
	if freed != nil && size >= largeBuffer {
		freed()
	}
}

func (o *output) init(c *conn) {
	o.link, o.traffic = c.link, c.traffic
	o.enforce = func() { c.server.engine.Do(&engine.Caller{}, c.enforceOutputLimit) }
	o.freed = c.server.cfg.Freed
	o.cond.L = &o.mu
}

// append queues bytes. first reports that the queue was empty: the caller must have it
// flushed. size is the number of unread bytes now. ok is false when the connection is
// broken; the bytes are dropped then.
func (o *output) append(encoded []byte) (first bool, size int, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.broken.Load() {
		return false, 0, false
	}
	first = len(o.queue) == 0
	if room := cap(o.queue); o.blocks == nil && (first || len(o.queue)+len(encoded) <= max(room, minBlock)) {
		if o.queue = append(o.queue, encoded...); cap(o.queue) != room {
			o.count()
		}
	} else {
		o.appendBlock(encoded)
	}
	return first, o.unread(), true
}

// appendBlock fills the last block, or queue if there is none, and puts what is left into a
// new block. The lock is held.
func (o *output) appendBlock(encoded []byte) {
	last := &o.queue
	if n := len(o.blocks); n > 0 {
		last = &o.blocks[n-1]
	}
	room := min(cap(*last)-len(*last), len(encoded))
	*last = append(*last, encoded[:room]...)
	if o.blocks != nil {
		o.blocked += room
	}
	left := encoded[room:]
	if len(left) == 0 {
		return
	}
	size := max(len(left), minBlock, min(o.unread()/4, maxBlock))
	o.blocks = append(o.blocks, append(make([]byte, 0, size), left...))
	o.blockCap += size
	o.blocked += len(left)
	o.count()
}

// unread returns the number of bytes that are not written. The lock is held.
func (o *output) unread() int { return len(o.queue) + o.blocked + len(o.rest) }

// count counts the buffers in traffic.buffers. It is called when one was made or dropped. The
// lock is held.
func (o *output) count() {
	o.counted.become(cap(o.queue)+o.blockCap+cap(o.buffer)+cap(o.spare), o.traffic)
}

// sizes returns the sizes of the buffers. A buffer of at most maxIdleBuffer bytes is small.
func (o *output) sizes() (b command.Buffers) {
	o.mu.Lock()
	defer o.mu.Unlock()
	add := func(size, unread int) {
		if size <= maxIdleBuffer {
			b.Small += size
			b.InSmall += unread
		} else {
			b.Large++
			b.LargeBytes += size
		}
	}
	add(cap(o.queue), len(o.queue))
	for _, block := range o.blocks {
		add(cap(block), len(block))
	}
	add(cap(o.buffer), len(o.rest))
	add(cap(o.spare), 0)
	b.Peak, b.Full = min(o.peak, b.Small), o.waiting || o.slow
	return b
}

// empty reports whether there is nothing to write, or the connection is broken.
func (o *output) empty() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.broken.Load() || o.unread() == 0
}

// Flush writes as much as the socket takes without blocking. The link writes the rest
// later. It makes output an engine.Flusher.
func (o *output) Flush() {
	o.mu.Lock()
	if !o.writing && len(o.queue) > 0 && !o.broken.Load() {
		o.writing = true
		o.pump()
	}
	o.mu.Unlock()
}

// resume continues to write after link.awaitWritable.
func (o *output) resume() {
	o.mu.Lock()
	if o.waiting {
		o.waiting = false
		o.pump()
		if !o.waiting && !o.broken.Load() {
			o.link.allWritten()
		}
	}
	o.mu.Unlock()
}

// pump writes all that is queued, or as much as the socket takes. The lock is held, but
// released during each write.
func (o *output) pump() {
	for o.fill() {
		b := o.rest
		o.mu.Unlock()
		// Counted first, because the client may ask for the sum as soon as it has the bytes.
		o.traffic.writes.Add(1)
		o.traffic.out.Add(int64(len(b)))
		n, err := o.link.write(b)
		if n < len(b) {
			o.traffic.out.Add(int64(n - len(b)))
		}
		o.mu.Lock()
		if err != nil {
			o.fail()
		}
		if o.broken.Load() {
			break
		}
		if o.rest = b[n:]; n < len(b) {
			o.waiting = true
			o.link.awaitWritable()
			return
		}
	}
	o.stopWriting()
}

// writeAll writes all that is queued to w. It may block for as long as the client does
// not read.
func (o *output) writeAll(w io.Writer) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.waiting, o.slow = false, true
	for o.fill() {
		b := o.rest
		o.mu.Unlock()
		o.traffic.writes.Add(1)
		n, err := w.Write(b[:min(len(b), slowWrite)])
		o.traffic.out.Add(int64(n))
		o.mu.Lock()
		if err != nil {
			o.fail()
		} else if !o.broken.Load() {
			o.rest = b[n:]
		}
	}
	o.stopWriting()
}

// fill makes the queue the rest, if all of the rest is written. It reports whether there
// is a rest to write.
func (o *output) fill() bool {
	if !o.overSoft.IsZero() && uint64(o.unread()) <= o.soft {
		o.overSoft = time.Time{}
	}
	if o.broken.Load() || len(o.rest) > 0 {
		return !o.broken.Load()
	}
	if o.spare == nil && cap(o.buffer) <= maxIdleBuffer {
		o.spare, o.buffer = o.buffer[:0], nil
	}
	dropped := o.buffer != nil
	o.rest, o.buffer = nil, nil // even an empty rest would keep the array of buffer
	if len(o.queue) > 0 {
		o.rest, o.buffer, o.peak = o.queue, o.queue, max(o.peak, len(o.queue))
		if o.blocks == nil {
			o.queue, o.spare = o.spare, nil
		} else {
			o.nextBlock()
		}
	}
	if dropped {
		o.count()
	}
	return len(o.rest) > 0
}

// nextBlock makes the first block the queue. The lock is held.
func (o *output) nextBlock() {
	o.queue, o.blocks[0] = o.blocks[0], nil
	o.blocked -= len(o.queue)
	o.blockCap -= cap(o.queue)
	if o.blocks = o.blocks[1:]; len(o.blocks) == 0 {
		o.blocks = nil
	}
}

// fail drops all bytes and kills the connection: its next read fails. The lock is held.
func (o *output) fail() {
	o.breakOff()
	o.link.kill()
}

// stopWriting lets the next goroutine write. The lock is held.
func (o *output) stopWriting() {
	o.writing, o.slow = false, false
	o.cond.Broadcast()
}

// drain writes all that is queued, unless the socket fails, and then ends all writing.
// It blocks.
func (o *output) drain() {
	o.Flush()
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.writing {
		o.cond.Wait()
	}
	o.breakOff()
}

// close ends all writing and calls end, with the lock held. It waits for a goroutine that
// is in link.write, which does not block.
func (o *output) close(end func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.writing && !o.waiting {
		o.cond.Wait()
	}
	o.breakOff()
	end()
}

// breakOff drops all bytes and marks the connection as broken. The lock is held.
func (o *output) breakOff() {
	if o.check != nil {
		o.check.Stop()
	}
	tellFreed(o.freed, o.unread())
	o.broken.Store(true)
	o.queue, o.rest, o.buffer, o.spare = nil, nil, nil, nil
	o.blocks, o.blocked, o.blockCap = nil, 0, 0
	o.count()
}
