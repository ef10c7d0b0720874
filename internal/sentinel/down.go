package sentinel

import (
	"strconv"

	"github.com/lockredis/lockredis/resp"
)

// checkSubjectively marks i as down, or as up again, from this Sentinel's point of view. It
// closes connections that look dead, so that they are opened again.
func (s *Sentinel) checkSubjectively(i *instance) {
	l := i.link
	silent := int64(0)
	if l.pingPending != 0 {
		silent = s.since(l.pingPending)
	} else if l.disconnected {
		silent = s.since(l.validAt)
	}
	if l.cmd != nil && s.since(l.cmdAt) > s.periods.minReconnect && l.pingPending != 0 &&
		s.since(l.pingPending) > i.downAfter/2 && s.since(l.pongAt) > i.downAfter/2 {
		l.close(l.cmd)
	}
	if l.sub != nil && s.since(l.subAt) > s.periods.minReconnect &&
		s.since(l.activityAt) > s.periods.publish*3 {
		l.close(l.sub)
	}
	switch down := silent > i.downAfter || i.isMaster() && s.claimsOtherwise(i.master); {
	case down && !i.has(sDown):
		s.warn("+sdown", "%v", i)
		i.sDownAt = s.now()
		i.set(sDown)
	case !down && i.has(sDown):
		s.warn("-sdown", "%v", i)
		i.clear(sDown | scriptKillSent)
	}
}

// claimsOtherwise reports whether m answers, but has been a replica or has been restarting for
// too long.
func (s *Sentinel) claimsOtherwise(m *master) bool {
	return m.saysReplica && s.since(m.roleAt) > m.downAfter+s.periods.info*2 ||
		m.has(rebooted) && s.since(m.rebootedAt) > m.rebootDownAfter
}

// checkObjectively marks m as down when as many Sentinels as the quorum say so.
func (s *Sentinel) checkObjectively(m *master) {
	votes := 0
	if m.has(sDown) {
		votes = 1
		for _, p := range m.peers {
			if p.has(masterDown) {
				votes++
			}
		}
	}
	switch down := m.has(sDown) && votes >= int(m.quorum); {
	case down && !m.has(oDown):
		s.warn("+odown", "%v #quorum %d/%d", m, votes, int32(m.quorum))
		m.set(oDown)
		m.oDownAt = s.now()
	case !down && m.has(oDown):
		s.warn("-odown", "%v", m)
		m.clear(oDown)
	}
}

// askPeers asks the other Sentinels of a primary that is down whether it is down for them too,
// and for their vote when a failover runs. Without force each is asked once in a while.
func (s *Sentinel) askPeers(m *master, force bool) {
	for _, p := range m.peers {
		silent := s.since(p.answeredAt)
		if silent > s.periods.ask*5 {
			p.clear(masterDown)
			p.leader = ""
		}
		if !m.has(sDown) || p.link.disconnected || !force && silent < s.periods.ask {
			continue
		}
		candidate := "*"
		if m.failover.state != noFailover {
			candidate = s.id
		}
		p.link.cmd.send(p.takeDownReply, p.command("SENTINEL", "is-master-down-by-addr",
			s.shown(m.addr), strconv.Itoa(m.addr.port), strconv.FormatUint(s.epoch, 10), candidate)...)
	}
}

// takeDownReply takes a reply to IS-MASTER-DOWN-BY-ADDR: whether the primary is down, and the
// vote. Other replies are ignored, and the answer becomes too old.
func (p *peer) takeDownReply(reply resp.Reply) {
	e := reply.Elems()
	if len(e) != 3 || e[0].Kind() != resp.KindInt || e[1].Kind() != resp.KindBulk ||
		e[2].Kind() != resp.KindInt {
		return
	}
	p.answeredAt = p.s.now()
	p.clear(masterDown)
	if e[0].Int() == 1 {
		p.set(masterDown)
	}
	if vote, epoch := e[1].Text(), uint64(e[2].Int()); vote != "*" {
		if p.leaderEpoch != epoch {
			p.s.opts.Log.Warn(p.name + " voted for " + vote + " " + strconv.FormatUint(epoch, 10))
		}
		p.leader, p.leaderEpoch = vote, epoch
	}
}
