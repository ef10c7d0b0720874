package sentinel

import (
	"strings"

	"github.com/lockredis/lockredis/resp"
)

// maxPending is how many commands of one instance may wait for a reply before no more are sent.
const maxPending = 100

// sendPeriodic sends PING, INFO and a hello to i when they are due.
func (s *Sentinel) sendPeriodic(i *instance) {
	l := i.link
	if l.disconnected || l.pending >= maxPending*l.refs {
		return
	}
	if n := i.data(); n != nil && n.infoIsDue() {
		l.cmd.send(n.takeInfo, i.command("INFO")...)
	}
	period := min(i.downAfter, s.periods.ping)
	if s.since(l.pongAt) > period && s.since(l.pingSent) > period/2 {
		s.ping(i)
	}
	if s.since(i.helloSent) > s.periods.publish {
		s.sendHello(i)
	}
}

// ping sends PING to i.
func (s *Sentinel) ping(i *instance) {
	l := i.link
	l.cmd.send(i.takePong, i.command("PING")...)
	l.pingSent = s.now()
	if l.pingPending == 0 {
		l.pingPending = s.now()
	}
}

// takePong takes the reply to PING. A server that is loading is alive; one that refuses the
// command for want of a password, or because a script runs, is not.
func (i *instance) takePong(reply resp.Reply) {
	l, text := i.link, reply.Text()
	switch {
	case reply.Kind() != resp.KindStatus && !reply.IsError():
	case strings.HasPrefix(text, "PONG"), strings.HasPrefix(text, "LOADING"),
		strings.HasPrefix(text, "MASTERDOWN"):
		l.validAt, l.pingPending = i.s.now(), 0
		if strings.HasPrefix(text, "PONG") {
			i.clear(rebooted)
		}
	case strings.HasPrefix(text, "BUSY") && i.has(sDown) && !i.has(scriptKillSent):
		l.cmd.send(ignore, i.command("SCRIPT", "KILL")...)
		i.set(scriptKillSent)
	}
	l.pongAt = i.s.now()
}
