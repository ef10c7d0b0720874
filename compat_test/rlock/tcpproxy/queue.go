package tcpproxy

import (
	"net"
	"sync"
	"time"
)

// queue has the bytes of one direction that are not delivered yet, in order.
type queue struct {
	more chan struct{} // capacity 1

	mu     sync.Mutex
	chunks []chunk
}

// chunk is bytes with the time before which they are not delivered. The last chunk has
// the end of its direction in place of bytes.
type chunk struct {
	data []byte
	due  time.Time
	end  bool

	answered chan struct{} // Fault.Answered
}

func newQueue() *queue { return &queue{more: make(chan struct{}, 1)} }

func (q *queue) add(c chunk) {
	q.mu.Lock()
	q.chunks = append(q.chunks, c)
	q.mu.Unlock()
	select {
	case q.more <- struct{}{}:
	default:
	}
}

// first returns the first chunk, which stays in the queue until pop.
func (q *queue) first() (chunk, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.chunks) == 0 {
		return chunk{}, false
	}
	return q.chunks[0], true
}

func (q *queue) pop() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.chunks = q.chunks[1:]
}

func (q *queue) empty() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.chunks) == 0
}

// deliver writes the queue to a connection until the end or until the link is dead. The
// end of the requests is told to the server, which then ends its side. The end of the
// replies ends the link, unless requests are still on their way.
func (q *queue) deliver(l *link, to *net.TCPConn) {
	for {
		c, ok := q.first()
		if !ok {
			select {
			case <-q.more:
				continue
			case <-l.dead:
				return
			}
		}
		if !q.await(l, c.due) {
			return
		}
		last := c.end && !l.silent(q) // bytes that vanish take the end with them
		switch {
		case l.silent(q):
		case last && q == l.requests:
			to.CloseWrite()
		case last:
			l.client.Close()
		default:
			if c.answered != nil {
				l.mu.Lock()
				l.answered = c.answered
				l.mu.Unlock()
			}
			// A client that is gone takes no replies. Its requests are still delivered.
			if _, err := to.Write(c.data); err != nil && q == l.requests {
				l.end()
				return
			}
		}
		q.pop()
		if last && q == l.replies {
			l.finish()
		}
		if last {
			return
		}
	}
}

// await waits until due and until the network does not stall. It reports false when the
// link is dead.
func (q *queue) await(l *link, due time.Time) bool {
	if wait := time.Until(due); !due.IsZero() && wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-l.dead:
			return false
		}
	}
	for {
		open := l.proxy.n.opened()
		select {
		case <-open:
			return true
		case <-l.dead:
			return false
		}
	}
}

// finish ends the link when the requests that wait are delivered.
func (l *link) finish() {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		if l.requests.empty() {
			l.end()
			return
		}
		select {
		case <-tick.C:
		case <-l.dead:
			return
		}
	}
}
