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
	if m := i.master; i.peer == nil && (m.infoAt == 0 || s.since(m.infoAt) > s.periods.info) {
		l.cmd.send(m.takeInfo, i.command("INFO")...)
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

// takeInfo takes the reply to INFO.
func (m *master) takeInfo(reply resp.Reply) {
	if reply.Kind() != resp.KindBulk {
		return
	}
	s := m.s
	m.info, m.infoAt = reply.Text(), s.now()
	replicas, replica, known := 0, false, false
	for line := range strings.SplitSeq(m.info, "\r\n") {
		switch name, value, _ := strings.Cut(line, ":"); {
		case name == "run_id" && len(value) >= 40:
			m.takeRunID(value[:40])
		case name == "role":
			known, replica = true, strings.HasPrefix(value, "slave")
		case len(name) > 5 && strings.HasPrefix(name, "slave") && name[5] >= '0' && name[5] <= '9':
			replicas++
		}
	}
	if replicas > 0 && m.replicas == 0 {
		s.opts.Log.Warn("The primary has replicas. This Sentinel neither lists nor promotes them.",
			"master", m.name, "replicas", replicas)
	}
	m.replicas = replicas
	if known && replica != m.replica {
		m.replica, m.roleAt = replica, s.now()
		s.reportRole(m)
	}
}

// takeRunID notices a primary that has restarted.
func (m *master) takeRunID(id string) {
	if m.runID != "" && m.runID != id {
		m.s.notice("+reboot", "%v", m)
		if m.rebootDownAfter != 0 {
			m.set(rebooted)
			m.rebootedAt = m.s.now()
		}
	}
	m.runID = id
}
