package replication

import (
	"bytes"

	"github.com/lockredis/lockredis/internal/command"
)

// lag holds back the last writes of a replica's stream, and what follows them, for a test. A
// transaction is one write, and so are all changes of a script.
type lag struct {
	most   int    // writes that are held back
	held   []told // begins with a write
	writes int    // in held

	frames      // that are not complete, or of an incomplete transaction
	multi  bool // MULTI was read
}

// told is a command or a transaction of the stream.
type told struct {
	bytes []byte
	write bool // false: it changes no data
}

// add takes bytes of the stream, and returns those that the replica hears now.
func (l *lag) add(b []byte) (due []byte) {
	l.raw = append(l.raw, b...)
	for len(b) > 0 {
		n := copy(l.reader.Space(), b)
		l.reader.Advance(n)
		b = b[n:]
		for {
			args, ok, err := l.next()
			if err != nil { // the replica has asked for the stream from the middle of a command
				due = append(append(due, l.release(0)...), l.raw...)
				l.frames, l.multi = frames{}, false
				return due
			}
			if !ok {
				break
			}
			if len(args) > 0 && !l.within(args[0]) {
				due = append(due, l.end(changes(args[0]))...)
			}
		}
	}
	return due
}

// within reports whether a transaction goes on behind the command that was read.
func (l *lag) within(name []byte) bool {
	switch {
	case bytes.EqualFold(name, []byte("multi")):
		l.multi = true
	case bytes.EqualFold(name, []byte("exec")):
		l.multi = false
	}
	return l.multi
}

// changes reports whether a command of the stream with that name changes data.
func changes(name []byte) bool {
	for _, other := range []string{"ping", "replconf", "select"} {
		if bytes.EqualFold(name, []byte(other)) {
			return false
		}
	}
	return true
}

// end follows the end of a command or transaction, and returns what is due now.
func (l *lag) end(write bool) []byte {
	l.held = append(l.held, told{l.take(), write})
	if write {
		l.writes++
	}
	return l.release(l.most)
}

// release removes from held what comes before the last most writes, and returns it.
func (l *lag) release(most int) (due []byte) {
	for len(l.held) > 0 && (l.writes > most || !l.held[0].write) {
		if l.held[0].write {
			l.writes--
		}
		due = append(due, l.held[0].bytes...)
		l.held = l.held[1:]
	}
	return due
}

// size returns how many bytes are held back. nil holds nothing back.
func (l *lag) size() (n int64) {
	if l == nil {
		return 0
	}
	for _, t := range l.held {
		n += int64(len(t.bytes))
	}
	return n + int64(len(l.raw))
}

// SetLag holds back the last writes of the stream for the replica that announces an address, now and
// when it connects again. 0 ends that.
func (r *Replication) SetLag(host string, port, writes int) {
	if r.lags == nil {
		r.lags = map[place]int{}
	}
	r.lags[place{host, port}] = writes
	for _, f := range r.replicas {
		if !f.at(host, port) {
			continue
		}
		if f.lag == nil {
			f.lag = &lag{}
		}
		f.lag.most = writes
		if due := f.lag.release(writes); len(due) > 0 && f.session.Replica.State == command.Online {
			f.session.Conn.Write(due)
		}
		if writes == 0 && f.lag.size() == 0 {
			f.lag = nil
		}
	}
}

// place is the address that a replica announces.
type place struct {
	host string
	port int
}

// lagOf returns the lag of a replica that has come, nil if it has none.
func (r *Replication) lagOf(f *replica) *lag {
	if most := r.lags[place{f.session.ReplicaIP(), f.session.Replica.Port}]; most > 0 {
		return &lag{most: most}
	}
	return nil
}

// write sends a part of the stream to a replica, but for what is held back.
func (f *replica) write(b []byte) {
	if f.lag != nil {
		b = f.lag.add(b)
	}
	if len(b) > 0 {
		f.session.Conn.Write(b)
	}
}

// Let returns the offset up to which the stream goes to the replica that announces an address. ok is
// false if no such replica is online.
func (r *Replication) Let(host string, port int) (offset int64, ok bool) {
	f := r.findReplica(host, port)
	if f == nil || f.cut || f.session.Replica.State != command.Online {
		return 0, false
	}
	return r.offset - f.lag.size(), true
}

// Standing returns the address of the primary, "" if there is none, whether the link to it works, and
// the offset of what is applied.
func (r *Replication) Standing() (primary string, up bool, offset int64) {
	if f := r.following; f != nil {
		return f.addr(), f.phase == connected, r.offset
	}
	return "", false, r.offset
}

// SetDown ends the link to the primary while a test has stopped this server, and makes it again.
func (r *Replication) SetDown(down bool) {
	switch f := r.following; {
	case f == nil:
	case down:
		f.unlink()
	default:
		r.Relink()
	}
}

// Relink connects to the primary now, if there is no link to it.
func (r *Replication) Relink() {
	if f := r.following; f != nil && f.link == nil {
		r.connect()
	}
}
