package sentinel

import (
	"strings"
)

// link is the two connections to an instance: one for commands, and to a primary or replica
// one for its hello channel. The same Sentinel at several primaries has one link.
type link struct {
	s            *Sentinel
	refs         int
	disconnected bool // a connection is missing
	pending      int  // commands without a reply

	cmd, sub     *conn // nil: closed
	cmdAt, subAt int64 // when they were opened
	reconnectAt  int64 // the last attempt
	activityAt   int64 // the last message on sub

	pingPending int64 // when the oldest ping without a pong was sent; 0: none
	pingSent    int64 // the last ping
	pongAt      int64 // the last reply to a ping
	validAt     int64 // the last reply to a ping that counts as alive
}

// newLink returns a closed link. Its times are as of an instance that was alive until now,
// so that an instance which never answers is down in time.
func (s *Sentinel) newLink() *link {
	now := s.now()
	return &link{s: s, refs: 1, disconnected: true, pingPending: now, pongAt: now, validAt: now}
}

// release closes the link when its last instance goes.
func (l *link) release() {
	if l.refs--; l.refs == 0 {
		l.disconnect()
	}
}

// disconnect closes both connections. The next reconnect opens them again.
func (l *link) disconnect() {
	l.close(l.cmd)
	l.close(l.sub)
}

// close closes one of the connections. nil does nothing.
func (l *link) close(c *conn) {
	if c == nil {
		return
	}
	l.lost(c)
	if c.commands {
		l.pending = 0
	}
	c.close()
}

// lost records that a connection has ended.
func (l *link) lost(c *conn) {
	if l.cmd == c {
		l.cmd = nil
	}
	if l.sub == c {
		l.sub = nil
	}
	c.link = nil
	l.disconnected = true
}

// reconnect opens the connections of i that are missing, once in a ping period.
func (s *Sentinel) reconnect(i *instance) {
	l, period := i.link, s.periods.ping
	if s.hurried > 0 {
		period = hurriedReconnect
	}
	if !l.disconnected || i.addr.port == 0 || s.since(l.reconnectAt) < period {
		return
	}
	l.reconnectAt = s.now()
	if l.cmd == nil {
		l.pending, l.cmdAt = 0, s.now()
		l.cmd = s.open(i, true)
		s.introduce(i, l.cmd, "cmd")
		s.ping(i)
	}
	if i.peer == nil && l.sub == nil {
		l.subAt = s.now()
		l.sub = s.open(i, false)
		s.introduce(i, l.sub, "pubsub")
		l.sub.send(nil, i.command("SUBSCRIBE", helloChannel)...)
	}
	l.disconnected = false
}

// introduce authenticates a new connection, if that needs a password, and names it.
func (s *Sentinel) introduce(i *instance, c *conn, purpose string) {
	if user, pass := s.credentials(i); pass != "" {
		words := []string{"AUTH", pass}
		if user != "" {
			words = []string{"AUTH", user, pass}
		}
		c.send(ignore, i.command(words...)...)
	}
	name := strings.Join([]string{"sentinel", s.id[:min(8, len(s.id))], purpose}, "-")
	c.send(ignore, i.command("CLIENT", "SETNAME", name)...)
}

// credentials returns what i wants in AUTH. Sentinels without sentinel-pass share one
// requirepass.
func (s *Sentinel) credentials(i *instance) (user, pass string) {
	switch {
	case i.peer == nil:
		return i.master.authUser, i.master.authPass
	case s.global.pass != "":
		return s.global.user, s.global.pass
	}
	return "", s.opts.Config.RequirePass
}
