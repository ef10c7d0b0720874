package sentinel

import (
	"cmp"
	"slices"
	"strings"
)

// goodPings is how many periods of PING may have passed since the last reply of a replica that is
// promoted.
const goodPings = 5

// bestReplica returns the replica of m that is promoted, nil if none is fit for it: the one with the
// lowest priority, then with the most data, then with the lowest run id.
func (s *Sentinel) bestReplica(m *master) *replica {
	maxLinkDown, maxInfoAge := m.downAfter*10, s.periods.info*3
	if m.has(sDown) {
		maxLinkDown += s.since(m.sDownAt)
		maxInfoAge = s.periods.ping * goodPings
	}
	var fit []*replica
	for _, r := range m.replicas {
		if !r.has(sDown) && !r.link.disconnected && r.priority != 0 &&
			s.since(r.link.validAt) <= s.periods.ping*goodPings &&
			s.since(r.infoAt) <= maxInfoAge && r.linkDown <= maxLinkDown {
			fit = append(fit, r)
		}
	}
	if len(fit) == 0 {
		return nil
	}
	return slices.MinFunc(fit, func(a, b *replica) int {
		return cmp.Or(cmp.Compare(a.priority, b.priority), cmp.Compare(b.offset, a.offset),
			compareRunIDs(a.runID, b.runID))
	})
}

// compareRunIDs orders run ids. An unknown one is the last.
func compareRunIDs(a, b string) int {
	if a == "" || b == "" {
		return cmp.Compare(len(b), len(a))
	}
	return cmp.Compare(strings.ToLower(a), strings.ToLower(b))
}

// selectReplica chooses the replica that is promoted.
func (s *Sentinel) selectReplica(m *master) {
	r := m.failover.wanted
	if r == nil {
		r = s.bestReplica(m)
	}
	if r == nil {
		s.warn("-failover-abort-no-good-slave", "%v", m)
		s.abortFailover(m)
		return
	}
	s.warn("+selected-slave", "%v", r)
	r.set(promoted)
	m.failover.promoted = r
	m.enter(sendNoOne)
	s.notice("+failover-state-send-slaveof-noone", "%v", r)
}

// promote makes the selected replica a primary as soon as there is a connection to it.
func (s *Sentinel) promote(m *master) {
	r := m.failover.promoted
	if r.link.disconnected || !r.follow(nil) {
		s.abortIfLate(m)
		return
	}
	s.notice("+failover-state-wait-promotion", "%v", r)
	m.enter(waitPromotion)
}

// abortIfLate ends a failover whose replica does not become a primary in time.
func (s *Sentinel) abortIfLate(m *master) {
	if s.since(m.failover.changedAt) > m.failoverTimeout {
		s.warn("-failover-abort-slave-timeout", "%v", m)
		s.abortFailover(m)
	}
}

// confirmPromotion notices that the selected replica r reports that it is a primary. From here on the
// failover does not abort: the other Sentinels learn the new address from hellos.
func (s *Sentinel) confirmPromotion(m *master, r *replica) {
	m.configEpoch = m.failover.epoch
	m.enter(reconfReplicas)
	s.flush()
	s.warn("+promoted-slave", "%v", r)
	if s.crashAt(crashAfterPromotion) {
		return
	}
	s.warn("+failover-state-reconf-slaves", "%v", m)
	s.hurryHellos(m)
}

// hurryHellos makes the next tick send a hello to all that know m.
func (s *Sentinel) hurryHellos(m *master) {
	m.helloSent = 0
	for _, p := range m.peers {
		p.helloSent = 0
	}
	for _, r := range m.replicas {
		r.helloSent = 0
	}
}

// reconfigure makes the other replicas follow the promoted one, parallelSyncs at a time. It ends
// the failover when all that are up do.
func (s *Sentinel) reconfigure(m *master) {
	f, running := &m.failover, 0
	for _, r := range m.replicas {
		if r.has(reconfSent | reconfInProgress) {
			running++
		}
	}
	for _, r := range m.replicas {
		if running >= m.parallelSyncs {
			break
		}
		if r.has(promoted | reconfDone) {
			continue
		}
		if r.has(reconfSent) && s.since(r.reconfAt) > s.periods.replicaReconf {
			s.notice("-slave-reconf-sent-timeout", "%v", r)
			r.clear(reconfSent)
			r.set(reconfDone)
		}
		if r.has(reconfSent|reconfInProgress) || r.link.disconnected || !r.follow(&f.promoted.addr) {
			continue
		}
		r.set(reconfSent)
		r.reconfAt = s.now()
		s.notice("+slave-reconf-sent", "%v", r)
		running++
	}
	s.endFailover(m)
}

// endFailover ends the failover when all replicas that are up follow the promoted one, or after
// failover-timeout. The replicas that are late then are told once more whom to follow.
func (s *Sentinel) endFailover(m *master) {
	f := &m.failover
	if f.promoted.has(sDown) {
		return // it must be reachable
	}
	left := slices.ContainsFunc(m.replicas, func(r *replica) bool {
		return !r.has(promoted | reconfDone | sDown)
	})
	limit := m.failoverTimeout
	if f.wanted != nil {
		limit = hurriedEnd
	}
	late := s.since(f.changedAt) > limit
	if late {
		s.warn("+failover-end-for-timeout", "%v", m)
	}
	if late || !left {
		s.warn("+failover-end", "%v", m)
		m.enter(updateConfig)
	}
	if !late {
		return
	}
	for _, r := range m.replicas {
		if r.has(promoted|reconfDone|reconfSent) || r.link.disconnected || !r.follow(&f.promoted.addr) {
			continue
		}
		s.notice("+slave-reconf-sent-be", "%v", r)
		r.set(reconfSent)
	}
}

// switchToPromoted gives m the address of the promoted replica.
func (s *Sentinel) switchToPromoted(m *master) {
	to := m.failover.promoted.addr
	s.warn("+switch-master", "%s %s %d %s %d",
		m.name, s.shown(m.addr), m.addr.port, s.shown(to), to.port)
	s.moveTo(m, to)
}

// currentAddr returns the address of m that clients and other Sentinels are told: the promoted
// replica's, as soon as that is a primary.
func (m *master) currentAddr() address {
	if m.has(failoverInProgress) && m.failover.promoted != nil && m.failover.state >= reconfReplicas {
		return m.failover.promoted.addr
	}
	return m.addr
}

// checkRole acts on what a replica has reported in INFO.
func (r *replica) checkRole() {
	s, m := r.s, r.master
	if r.saysReplica {
		r.checkPrimary()
		r.advanceReconf()
		return
	}
	if r.has(promoted) && m.has(failoverInProgress) && m.failover.state == waitPromotion {
		s.confirmPromotion(m, r)
		return
	}
	wait := s.periods.publish * 4 // other Sentinels may know more
	if !r.has(promoted) && m.looksSane() && r.upFor(wait) && s.since(r.roleAt) > wait &&
		r.follow(&m.addr) {
		s.notice("+convert-to-slave", "%v", r)
	}
}

// checkPrimary corrects a replica that has followed another primary for a while.
func (r *replica) checkPrimary() {
	s, m := r.s, r.master
	if wait := m.failoverTimeout; !m.addr.is(r.masterHost, r.masterPort) && m.looksSane() &&
		r.upFor(wait) && s.since(r.confAt) > wait && r.follow(&m.addr) {
		s.notice("+fix-slave-config", "%v", r)
	}
}

// advanceReconf notices what a replica does that was told to follow the promoted one.
func (r *replica) advanceReconf() {
	to := r.master.failover.promoted
	if r.has(reconfSent) && to != nil && to.addr.is(r.masterHost, r.masterPort) {
		r.clear(reconfSent)
		r.set(reconfInProgress)
		r.s.notice("+slave-reconf-inprog", "%v", r)
	}
	if r.has(reconfInProgress) && r.linkUp {
		r.clear(reconfInProgress)
		r.set(reconfDone)
		r.s.notice("+slave-reconf-done", "%v", r)
	}
}

// looksSane reports whether m is up, says that it is a primary, and has said so lately.
func (m *master) looksSane() bool {
	return !m.saysReplica && !m.has(sDown|oDown) && m.s.since(m.infoAt) < m.s.periods.info*2
}

// upFor reports whether a replica has not become down in the last ms.
func (r *replica) upFor(ms int64) bool { return r.sDownAt == 0 || r.s.since(r.sDownAt) > ms }
