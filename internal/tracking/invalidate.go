package tracking

import (
	"slices"
	"strconv"

	"github.com/lockredis/lockredis/internal/command"
)

// maxScratch is the largest encoding buffer, in bytes, that is kept for reuse.
const maxScratch = 1 << 20

// invalidation is a push that waits for the end of the running command.
type invalidation struct {
	reader *command.Session // the client that has read the key
	keys   []byte           // the encoded keys; nil: all keys may have changed
}

// The beginning of an invalidation: a push in RESP3, a message in RESP2. The encoded keys
// follow: an array, or nil if all keys may have changed.
const (
	pushHead    = ">2\r\n$10\r\ninvalidate\r\n"
	messageHead = "*3\r\n$7\r\nmessage\r\n$20\r\n__redis__:invalidate\r\n"
	brokenHead  = ">2\r\n$21\r\ntracking-redir-broken\r\n:"
)

// Changed invalidates a key that has changed. A client's or a script's command is running,
// or Engine.Current is nil.
func (t *Tracker) Changed(key string) {
	if t.prefixes.Len() > 0 {
		by := int64(0)
		if s := t.engine.Current(); s != nil && !t.scriptRuns() {
			by = s.ID
		}
		t.prefixes.Changed(key, by)
	}
	if t.table.Len() > 0 {
		t.invalidate(key, t.engine.Current())
	}
}

func (t *Tracker) scriptRuns() bool {
	_, running := t.env.Script.Busy()
	return running
}

// NoClient is called after Changed if the key or a field expired, or the key was evicted: no
// client has changed it, so NOLOOP excepts no client.
func (t *Tracker) NoClient(key string) {
	if t.prefixes.Len() > 0 {
		t.prefixes.Changed(key, 0)
	}
}

// invalidate takes a key out of the table and tells its readers, except for by if it is
// tracking with NOLOOP. An invalidation for by itself waits for the end of its command.
func (t *Tracker) invalidate(key string, by *command.Session) {
	ids := t.table.Take(key)
	if ids == nil {
		return
	}
	keys := appendKeys(nil, key)
	for _, id := range ids {
		s := t.env.Clients.ByID(id)
		if s == nil {
			t.stale--
			continue
		}
		s.Tracking.Items--
		switch {
		case !s.Tracks(), s.Tracking.Mode.Has(command.Broadcast):
		case s != by:
			t.send(s, keys)
		case !s.Tracking.Mode.Has(command.NoLoop):
			t.waiting = append(t.waiting, invalidation{s, keys})
		}
	}
}

// Flushed tells every tracking client that all keys may be gone, and empties the table.
func (t *Tracker) Flushed() {
	if !t.active {
		return
	}
	t.env.Clients.Each(func(s *command.Session) bool {
		if s.Tracking == nil {
			return true
		}
		s.Tracking.Items = 0
		switch {
		case !s.Tracks():
		case s == t.engine.Current():
			t.waiting = append(t.waiting, invalidation{reader: s})
		default:
			t.send(s, nilFor(s))
		}
		return true
	})
	t.clear()
}

// nilFor returns the nil of the reader's protocol. As in Redis, a client of another protocol
// gets the same one by redirection. For a client that has flushed itself, the protocol counts
// that it has at the end of its command: EXEC may have run a HELLO after the flush.
func nilFor(reader *command.Session) []byte {
	if reader.Proto > 2 {
		return []byte("_\r\n")
	}
	return []byte("$-1\r\n")
}

// SendWaiting sends the invalidations that have waited for the end of a command.
func (t *Tracker) SendWaiting() {
	if len(t.waiting) == 0 {
		return
	}
	waiting := t.waiting
	t.waiting = nil
	for _, i := range waiting {
		if i.keys == nil {
			i.keys = nilFor(i.reader)
		}
		t.sendNow(i.reader, i.keys)
	}
}

// UnitEnds sends what has changed under the prefixes of BCAST. It is called at the end of a
// unit that is not run halfway through a script.
func (t *Tracker) UnitEnds() {
	if !t.prefixes.Dirty() {
		return
	}
	t.prefixes.Drain(func(b *Batch) {
		all := appendKeys(nil, b.Keys...)
		for _, id := range slices.Clone(b.IDs) {
			s, keys := t.env.Clients.ByID(id), all
			if s == nil {
				continue
			}
			if s.Tracking.Mode.Has(command.NoLoop) {
				rest := b.Without(id)
				if len(rest) == 0 {
					continue
				}
				if len(rest) < len(b.Keys) {
					keys = appendKeys(nil, rest...)
				}
			}
			t.sendNow(s, keys)
		}
	})
}

// send sends an invalidation to the client that reader redirects to, or to reader. If that
// client is in the middle of EXEC's array, the invalidation waits.
func (t *Tracker) send(reader *command.Session, keys []byte) {
	if now := t.engine.Current(); now != nil && now == t.receiver(reader) && t.engine.RunsQueue(now) {
		t.waiting = append(t.waiting, invalidation{reader, keys})
		return
	}
	t.sendNow(reader, keys)
}

// receiver returns the client that gets the invalidations of reader, nil if it has left.
func (t *Tracker) receiver(reader *command.Session) *command.Session {
	if id := reader.Tracking.Redirect; id != 0 {
		return t.env.Clients.ByID(id)
	}
	return reader
}

// sendNow queues an invalidation. A client in RESP2 gets it as a message, if it is
// redirected from another client and the receiver has any subscription.
func (t *Tracker) sendNow(reader *command.Session, keys []byte) {
	to := t.receiver(reader)
	switch {
	case to == nil:
		t.breakRedirect(reader)
	case to.Proto > 2:
		t.push(to, pushHead, keys)
	case reader.Tracking.Redirect != 0 && to.Subs.Any():
		t.push(to, messageHead, keys)
	}
}

// breakRedirect tells a client that the client of its REDIRECT has left.
func (t *Tracker) breakRedirect(reader *command.Session) {
	reader.Tracking.Mode |= command.BrokenRedirect
	if reader.Proto > 2 {
		number := strconv.AppendInt(nil, reader.Tracking.Redirect, 10)
		t.push(reader, brokenHead, append(number, "\r\n"...))
	}
}

func (t *Tracker) push(to *command.Session, head string, rest []byte) {
	t.buffer = append(append(t.buffer[:0], head...), rest...)
	to.Push(t.buffer)
	if cap(t.buffer) > maxScratch {
		t.buffer = nil
	}
}

// appendKeys encodes keys as an array.
func appendKeys(b []byte, keys ...string) []byte {
	b = append(strconv.AppendInt(append(b, '*'), int64(len(keys)), 10), "\r\n"...)
	for _, key := range keys {
		b = append(strconv.AppendInt(append(b, '$'), int64(len(key)), 10), "\r\n"...)
		b = append(append(b, key...), "\r\n"...)
	}
	return b
}
