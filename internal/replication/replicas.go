package replication

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/persist"
	"github.com/lockredis/lockredis/resp"
)

// replica is a connection that follows this server.
type replica struct {
	session *command.Session
	old     bool          // it sent SYNC
	copy    *persist.Copy // of the data; nil: all pieces are read
	whole   []byte        // what is left of a file whose length the replica must know; see gather
	mark    string        // behind the file; "": its length is before it
	sent    bool          // the file is queued: the stream begins with the next acknowledgement
	pending []byte        // the stream since the file began
	over    int64         // seconds that pending has exceeded the soft limit
	unread  int           // bytes of the connection at the last beat that the replica had not read
	cut     bool          // its connection is closed
	lag     *lag          // what a test holds back; nil: nothing
}

var errNoLink = resp.Error("NOMASTERLINK Can't SYNC while not connected with my master")

// Sync makes c's connection a replica. It continues the stream, or begins to send all data.
//
// Redis 7.0.15: syncCommand and masterTryPartialResync in replication.c.
func (r *Replication) Sync(c *command.Ctx, request command.SyncRequest) resp.Reply {
	s := c.Session
	if s.Listens {
		return resp.NoReply
	}
	if request.Failover {
		if refusal, ok := r.takeLead(request.ID); !ok {
			return refusal
		}
	}
	switch {
	case r.failover != nil && r.failover.give == nil:
		return errFailoverLink
	case r.following != nil && r.following.phase != connected:
		return errNoLink
	}
	if s.Replica == nil {
		s.Replica = &command.Replica{}
	}
	f := &replica{session: s, old: request.Old}
	s.Listens, s.ReplyMode = true, s.ReplyMode|command.ReplyCuts // the stream is all that it hears
	s.Replica.Answered = func() { r.answered(f) }
	s.Replica.Lag = 0
	f.lag = r.lagOf(f)
	r.replicas = append(r.replicas, f)
	if parts, ok := r.rest(request); ok {
		r.env.Stats.Partial++
		r.resume(f, parts)
		return resp.NoReply
	}
	if !request.Old && !strings.HasPrefix(request.ID, "?") {
		r.env.Stats.NotPartial++
	}
	r.env.Stats.Full++
	r.log.Info("Full resync requested by replica " + r.name(s))
	r.beginFile(f)
	return resp.NoReply
}

// rest returns the stream behind what a replica has. ok is false if it needs all data.
func (r *Replication) rest(request command.SyncRequest) (parts [2][]byte, ok bool) {
	known := strings.EqualFold(request.ID, r.currentID()) ||
		r.id2 != "" && strings.EqualFold(request.ID, r.id2) && request.Offset <= r.offset2
	if request.Old || !known || r.backlog == nil {
		return parts, false
	}
	if parts, ok = r.backlog.from(request.Offset); ok {
		return parts, true
	}
	longest := r.longest()
	if first := r.offset - int64(len(longest)) + 1; request.Offset >= first && request.Offset <= r.offset {
		return [2][]byte{longest[request.Offset-first:]}, true
	}
	return parts, false
}

// longest returns the end of the stream that waits for a replica's file, the longest if there are
// several. It may reach further back than the backlog.
func (r *Replication) longest() (pending []byte) {
	for _, f := range r.replicas {
		if len(f.pending) > len(pending) {
			pending = f.pending
		}
	}
	return pending
}

// resume continues the stream of a replica with the parts that it lacks.
func (r *Replication) resume(f *replica, parts [2][]byte) {
	s := f.session
	s.Replica.State = command.Online
	reply := "+CONTINUE\r\n"
	if s.Replica.PSync2 {
		reply = "+CONTINUE " + r.currentID() + "\r\n"
	}
	s.Conn.Write([]byte(reply))
	for _, part := range parts {
		f.write(part)
	}
	r.log.Info(fmt.Sprintf("Partial resynchronization request from %s accepted. Sending %d bytes of backlog.",
		r.name(s), len(parts[0])+len(parts[1])))
	r.engine.Attend()
}

// name returns a replica's address as the log shows it.
func (r *Replication) name(s *command.Session) string {
	return net.JoinHostPort(s.ReplicaIP(), strconv.Itoa(s.Replica.Port))
}

// beginFile begins to send all data as they are now. The stream behind them is kept until the
// replica has them.
func (r *Replication) beginFile(f *replica) {
	s := f.session
	r.begin()
	if r.following == nil {
		r.db = -1
	}
	f.copy = r.files.Copy(s.Replica.Without)
	s.Replica.State = command.AwaitsFile
	if !f.old {
		s.Conn.Write([]byte("+FULLRESYNC " + r.currentID() + " " + strconv.FormatInt(r.offset, 10) + "\r\n"))
	}
	if s.Replica.EOF {
		f.mark = newID(r.env.Rand)
		s.Conn.Write([]byte("$EOF:" + f.mark + "\r\n"))
		r.sendFile(f)
		return
	}
	r.gather(f)
}

// gather reads the pieces of a file whose length must be known before it is sent. Until then newlines
// show the replica that the server works.
func (r *Replication) gather(f *replica) {
	if f.ended() {
		return
	}
	piece, more := f.copy.Next()
	if f.whole = append(f.whole, piece...); more {
		r.later(f.copy.Delay(), f, r.gather)
		return
	}
	r.later(f.copy.Delay(), f, r.gathered)
}

// gathered begins to send the file.
func (r *Replication) gathered(f *replica) {
	if f.ended() {
		return
	}
	f.copy.End()
	f.copy = nil
	f.session.Replica.State = command.ReceivesFile
	f.session.Conn.Write([]byte("$" + strconv.Itoa(len(f.whole)) + "\r\n"))
	r.sendFile(f)
}

// A replica that reads slowly has the file wait while more than mostUnread bytes are unread, for
// pause each time. A file whose length is known is sent in pieces of mostPiece bytes.
const (
	mostUnread = 1 << 20
	mostPiece  = 64 << 10
	pause      = 2 * time.Millisecond
)

// sendFile queues a piece of the file, and plans the next one.
func (r *Replication) sendFile(f *replica) {
	s := f.session
	if f.ended() {
		return
	}
	if unread(s) > mostUnread {
		r.later(pause, f, r.sendFile)
		return
	}
	piece, more, delay := f.next()
	s.Conn.Write(piece)
	s.Replica.Lag = 0
	if more {
		r.later(delay, f, r.sendFile)
		return
	}
	r.later(delay, f, r.fileSent)
}

// next returns the next piece of the file, whether there are more, and how long to wait after it.
func (f *replica) next() (piece []byte, more bool, delay time.Duration) {
	if f.copy != nil {
		piece, more = f.copy.Next()
		return piece, more, f.copy.Delay()
	}
	piece = f.whole[:min(mostPiece, len(f.whole))]
	f.whole = f.whole[len(piece):]
	return piece, len(f.whole) > 0, 0
}

// unread returns how many bytes wait for a connection to read them.
func unread(s *command.Session) int {
	sizes := s.Conn.Sizes(false)
	return sizes.LargeBytes + sizes.InSmall
}

// ended reports whether the replica has left, or will.
func (f *replica) ended() bool { return f.cut || f.session.State() == command.Gone }

// later continues with the file after a while.
func (r *Replication) later(d time.Duration, f *replica, do func(*replica)) {
	r.env.Server.After(d, func() {
		r.engine.Outside(func() { do(f) })
	})
}

// fileSent follows the end of the file. A replica that reads up to a mark may not get anything
// behind it before it has found it. It says so with an acknowledgement.
func (r *Replication) fileSent(f *replica) {
	if f.ended() {
		return
	}
	f.session.Conn.Write([]byte(f.mark))
	if f.copy != nil {
		f.copy.End()
	}
	f.copy, f.whole, f.sent = nil, nil, true
	if f.mark == "" || f.session.Replica.Once {
		r.online(f)
	}
}

// online begins the stream of a replica that has the file.
func (r *Replication) online(f *replica) {
	s := f.session
	if s.Replica.Once {
		s.Move(command.Closing)
		s.Conn.Wake()
		return
	}
	s.Replica.State, s.Replica.Lag = command.Online, 0
	f.write(f.pending)
	f.pending = nil
	r.log.Info("Synchronization with replica " + r.name(s) + " succeeded")
	r.engine.Attend()
}

// hear passes bytes of the stream to the replica, or keeps them while it gets the file.
func (r *Replication) hear(f *replica, b []byte) {
	switch s := f.session; {
	case f.cut:
	case s.Replica.State == command.Online:
		f.write(b)
	case s.Follows():
		f.pending = append(f.pending, b...)
		if limit := r.env.Config.ReplicaLimit().Hard; limit != 0 && uint64(len(f.pending)) > limit {
			r.cutOver(f)
		}
	}
}

// cutOver closes the connection of a replica that more of the stream waits for than it may have.
func (r *Replication) cutOver(f *replica) {
	r.log.Warn("Replica " + r.name(f.session) + " closed for overcoming of output buffer limits")
	f.cutOff()
}

// cutOff closes the replica's connection. It hears nothing more.
func (f *replica) cutOff() {
	f.cut, f.pending = true, nil
	f.session.Conn.Kill()
}

// answered closes the connection of a replica that sent a command with a reply, or that would get a
// message. It runs no more commands.
//
// Redis 7.0.15: _addReplyToBufferOrList in networking.c.
func (r *Replication) answered(f *replica) {
	if f.cut {
		return
	}
	name := "NULL"
	if cmd := f.session.LastCommand; cmd != nil {
		name = cmd.Name
	}
	r.log.Warn("Replica generated a reply to command '" + name + "', disconnecting it: " + r.name(f.session))
	f.session.Move(command.Closing)
	f.cutOff()
}

// Acked notes that a replica has the stream up to offset.
func (r *Replication) Acked(s *command.Session, offset int64) {
	f := r.find(s)
	if f == nil {
		return
	}
	s.Replica.Acked, s.Replica.Lag = max(s.Replica.Acked, offset), 0
	if f.sent && s.Replica.State != command.Online {
		r.online(f)
	}
	r.acksChanged()
	if r.failover != nil { // not inside the replica's command: a hand-over changes the server's role
		r.env.Server.After(0, func() { r.engine.Outside(r.handOver) })
	}
	r.engine.Attend()
}

func (r *Replication) find(s *command.Session) *replica {
	for _, f := range r.replicas {
		if f.session == s {
			return f
		}
	}
	return nil
}

// Left follows a connection that has left.
func (r *Replication) Left(s *command.Session) {
	f := r.find(s)
	if f == nil {
		return
	}
	if f.copy != nil {
		f.copy.End()
	}
	f.cut, f.copy, f.whole, f.pending = true, nil, nil, nil
	r.replicas = slices.DeleteFunc(r.replicas, func(other *replica) bool { return other == f })
	r.log.Info("Connection with replica " + r.name(s) + " lost.")
	r.acksChanged()
	r.engine.Attend()
}

// Good returns how many replicas are online and have acknowledged within min-replicas-max-lag.
func (r *Replication) Good() (n int) {
	for _, f := range r.replicas {
		if f.session.Replica.State == command.Online && f.session.Replica.Lag <= r.env.Config.ReplicaLag {
			n++
		}
	}
	return n
}

// Lacks reports whether writes are refused because too few replicas listen.
func (r *Replication) Lacks() bool {
	cfg := r.env.Config
	return cfg.RequiresReplicas() && int64(r.Good()) < cfg.MinReplicas
}

// dropSilent counts a second for each replica. It closes the connections of those that have been
// silent for more than timeout seconds, and of those that too much of the stream waits for.
func (r *Replication) dropSilent(timeout int64) {
	limit := r.env.Config.ReplicaLimit()
	for _, f := range slices.Clone(r.replicas) {
		s := f.session
		if f.cut {
			continue
		}
		s.Replica.Lag++
		switch {
		case s.Replica.State != command.Online:
			f.progress()
		case f.lag.size() > 0:
			s.Conn.Write([]byte("\n")) // what is held back may be a PING
		}
		f.over++
		if limit.Soft == 0 || uint64(len(f.pending)) <= limit.Soft {
			f.over = 0
		}
		switch {
		case s.Replica.Lag > timeout:
			r.log.Warn("Disconnecting timedout replica: " + r.name(s))
			r.env.Clients.Kill(s)
		case f.over > limit.SoftSeconds:
			r.cutOver(f)
		}
	}
	r.engine.Attend() // Good may be less
}

// progress notes what a replica without a stream has read since the last beat. It has nothing to
// acknowledge, so reading is its sign of life. When it has read the file, it sends newlines until it has
// loaded it.
func (f *replica) progress() {
	s := f.session
	if f.mark == "" && f.copy != nil {
		s.Conn.Write([]byte("\n")) // see gather
		s.Replica.Lag = 0
	}
	last := f.unread
	if f.unread = unread(s); f.unread < last {
		s.Replica.Lag = 0
	}
}
