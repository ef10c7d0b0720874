package sentinel

import (
	"strings"
	"time"
)

// maxDesync is the range of the random delay of a failover, in ms, so that few Sentinels ask
// for votes at the same time.
const maxDesync = 1000

// failoverState is the step of a failover.
type failoverState uint8

const (
	noFailover failoverState = iota
	waitStart                // waits for the votes
	selectReplica
	sendNoOne      // waits for a connection to the selected replica
	waitPromotion  // waits until the replica says that it is a primary
	reconfReplicas // makes the other replicas follow it; does not abort any more
	updateConfig   // the address changes at the end of the tick
)

// failover is the state of a primary's failover.
type failover struct {
	state     failoverState
	changedAt int64 // when state changed
	epoch     uint64
	startAt   int64    // the last one; may be in the future, by maxDesync
	logged    int64    // the startAt for which the delay until the next failover was logged
	promoted  *replica // nil: none is selected
	wanted    *replica // that a caller of this process has named; nil: the best one
}

// enter changes the state of m's failover.
func (m *master) enter(state failoverState) {
	m.failover.state, m.failover.changedAt = state, m.s.now()
}

// startFailoverIfNeeded starts a failover of a primary that is objectively down, and reports
// whether it did.
func (s *Sentinel) startFailoverIfNeeded(m *master) bool {
	f := &m.failover
	if !m.has(oDown) || m.has(failoverInProgress) {
		return false
	}
	if next := f.startAt + 2*m.failoverTimeout; s.now() < next {
		if f.logged != f.startAt {
			f.logged = f.startAt
			s.opts.Log.Warn("Next failover delay: I will not start a failover before " +
				time.UnixMilli(next).Format(time.ANSIC))
		}
		return false
	}
	s.startFailover(m)
	return true
}

// startFailover starts a failover in a new epoch.
func (s *Sentinel) startFailover(m *master) {
	s.epoch++
	m.enter(waitStart)
	m.failover.epoch = s.epoch
	m.set(failoverInProgress)
	s.warn("+new-epoch", "%d", s.epoch)
	s.warn("+try-failover", "%v", m)
	m.failover.startAt = s.now() + int64(s.random(maxDesync))
}

// advanceFailover takes the next step of a failover.
func (s *Sentinel) advanceFailover(m *master) {
	if !m.has(failoverInProgress) {
		return
	}
	switch m.failover.state {
	case waitStart:
		s.awaitElection(m)
	case selectReplica:
		s.selectReplica(m)
	case sendNoOne:
		s.promote(m)
	case waitPromotion:
		s.abortIfLate(m)
	case reconfReplicas:
		s.reconfigure(m)
	}
}

// awaitElection continues the failover when this Sentinel is the leader or a client has asked for
// the failover, and gives up after a time.
func (s *Sentinel) awaitElection(m *master) {
	if !strings.EqualFold(s.electedLeader(m), s.id) && !m.has(forced) {
		limit := min(s.periods.election, m.failoverTimeout)
		if s.since(m.failover.startAt) > limit {
			s.warn("-failover-abort-not-elected", "%v", m)
			s.abortFailover(m)
		}
		return
	}
	s.warn("+elected-leader", "%v", m)
	if s.crashAt(crashAfterElection) {
		return
	}
	m.enter(selectReplica)
	s.warn("+failover-state-select-slave", "%v", m)
}

func (s *Sentinel) abortFailover(m *master) {
	m.clear(failoverInProgress | forced)
	m.enter(noFailover)
	m.failover.wanted = nil
	if r := m.failover.promoted; r != nil {
		r.clear(promoted)
		m.failover.promoted = nil
	}
}

// electedLeader returns the id of the Sentinel that may fail over m in the present epoch, ""
// if there is none yet. This Sentinel gives its own vote, if it has not voted: to the
// candidate with the most votes, or to itself.
func (s *Sentinel) electedLeader(m *master) string {
	votes := map[string]int{}
	winner, most := "", 0
	count := func(candidate string) {
		votes[candidate]++
		if votes[candidate] > most {
			winner, most = candidate, votes[candidate]
		}
	}
	for _, p := range m.peers {
		if p.leader != "" && p.leaderEpoch == s.epoch {
			count(p.leader)
		}
	}
	candidate := winner
	if candidate == "" {
		candidate = s.id
	}
	if own, epoch := s.vote(m, m.failover.epoch, candidate); own != "" && epoch == m.failover.epoch {
		count(own)
	}
	voters := len(m.peers) + 1
	if most < voters/2+1 || most < int(m.quorum) {
		return ""
	}
	return winner
}

// vote votes for candidate in an epoch, unless this Sentinel has voted in it. It returns its
// last vote and the epoch of that vote, "" if it has none.
func (s *Sentinel) vote(m *master, epoch uint64, candidate string) (string, uint64) {
	if epoch > s.epoch {
		s.newEpoch(m, epoch)
	}
	if m.leaderEpoch < epoch && s.epoch <= epoch {
		m.leader, m.leaderEpoch = candidate, s.epoch
		s.flush()
		s.warn("+vote-for-leader", "%s %d", m.leader, m.leaderEpoch)
		if !strings.EqualFold(m.leader, s.id) { // leave the other one time for its failover
			m.failover.startAt = s.now() + int64(s.random(maxDesync))
		}
	}
	return m.leader, m.leaderEpoch
}
