package sentinel

import (
	"fmt"
	"slices"
	"strings"
)

// flags are the states of an instance.
type flags uint16

const (
	sDown              flags = 1 << iota // this Sentinel gets no valid reply
	oDown                                // as many Sentinels as the quorum say so
	masterDown                           // of a peer: it says that the primary is down
	failoverInProgress                   //
	scriptKillSent                       // SCRIPT KILL was sent because of -BUSY
	rebooted                             // the primary has another run id than before
	forced                               // of a primary: the failover was asked for, no vote is needed
	promoted                             // of a replica: the failover makes it a primary
	reconfSent                           // of a replica: it was told to follow the promoted one
	reconfInProgress                     // of a replica: it says that it follows the promoted one
	reconfDone                           // of a replica: its link to the promoted one works
)

// instance is what primaries, replicas and other Sentinels have in common.
type instance struct {
	s         *Sentinel
	name      string
	runID     string // "": not known yet
	addr      address
	flags     flags
	link      *link
	downAfter int64
	// helloSent is when it took the last hello. Differs from Redis: the first hello is sent at
	// once, not after two seconds, so that new Sentinels soon know each other.
	helloSent int64
	sDownAt   int64

	master  *master  // itself, or the primary of a replica or a peer
	replica *replica // nil unless it is one
	peer    *peer    // nil unless it is one
}

func (i *instance) has(f flags) bool { return i.flags&f != 0 }
func (i *instance) set(f flags)      { i.flags |= f }
func (i *instance) clear(f flags)    { i.flags &^= f }

// kind returns the first word of an instance in an event.
func (i *instance) kind() string {
	switch {
	case i.peer != nil:
		return "sentinel"
	case i.replica != nil:
		return "slave"
	}
	return "master"
}

// isMaster reports whether i is the primary itself.
func (i *instance) isMaster() bool { return i.peer == nil && i.replica == nil }

// String returns the instance as events name it.
func (i *instance) String() string {
	text := fmt.Sprintf("%s %s %s %d", i.kind(), i.name, i.s.shown(i.addr), i.addr.port)
	if !i.isMaster() {
		m := i.master
		text += fmt.Sprintf(" @ %s %s %d", m.name, m.s.shown(m.addr), m.addr.port)
	}
	return text
}

// command returns the words of a command with the name that rename-command gave it.
func (i *instance) command(words ...string) []string {
	if to, renamed := i.master.renamed[strings.ToLower(words[0])]; renamed {
		words[0] = to
	}
	return words
}

// dataNode is what primaries and replicas have in common: they answer INFO.
type dataNode struct {
	instance
	info        string // the last reply to INFO
	infoAt      int64
	saysReplica bool // the role in INFO
	roleAt      int64
}

// master is a monitored primary.
type master struct {
	dataNode
	replicas []*replica // in the order of discovery
	peers    []*peer    // in the order of discovery

	quorum          uint32 // a larger number wraps around, as in Redis
	failoverTimeout int64
	parallelSyncs   int
	authUser        string
	authPass        string
	rebootDownAfter int64
	renamed         map[string]string // old name in lower case → new name
	renames         [][2]string       // the same as it was given, in order

	rebootedAt  int64
	oDownAt     int64
	configEpoch uint64
	leader      string // that this Sentinel voted for
	leaderEpoch uint64
	failover    failover
}

// peer is another Sentinel of a primary. Its name is its id.
type peer struct {
	instance
	helloAt     int64 // of its last hello
	answeredAt  int64 // of its last answer to IS-MASTER-DOWN-BY-ADDR
	leader      string
	leaderEpoch uint64
}

// newMaster returns a primary that is not in the list yet.
func (s *Sentinel) newMaster(name string, addr address, quorum uint32) *master {
	m := &master{quorum: quorum, failoverTimeout: s.periods.failoverTimeout, parallelSyncs: 1,
		renamed: map[string]string{}}
	m.roleAt = s.now()
	m.instance = instance{s: s, name: name, addr: addr, downAfter: s.periods.downAfter,
		link: s.newLink(), master: m}
	return m
}

// find returns the primary of that name, nil if there is none.
func (s *Sentinel) find(name string) *master {
	return first(s.masters, func(m *master) bool { return m.name == name })
}

// findAt returns the primary at an address, nil if there is none.
func (s *Sentinel) findAt(host string, port int) *master {
	return first(s.masters, func(m *master) bool { return m.addr.is(host, port) })
}

// first returns the first of all that is asked for, nil if there is none.
func first[T any](all []*T, is func(*T) bool) *T {
	if i := slices.IndexFunc(all, is); i >= 0 {
		return all[i]
	}
	return nil
}

// addPeer adds another Sentinel to m. It shares the link of the same Sentinel at another
// primary.
func (s *Sentinel) addPeer(m *master, id string, addr address) *peer {
	p := &peer{helloAt: s.now(), answeredAt: s.now()}
	p.instance = instance{s: s, name: id, runID: id, addr: addr, downAfter: m.downAfter,
		master: m, peer: p}
	for _, other := range s.masters {
		if same := other.peerByID(id); same != nil {
			p.link = same.link
			p.link.refs++
			break
		}
	}
	if p.link == nil {
		p.link = s.newLink()
	}
	m.peers = append(m.peers, p)
	return p
}

// peerByID returns the Sentinel of that id, nil if m does not know it.
func (m *master) peerByID(id string) *peer {
	return first(m.peers, func(p *peer) bool { return p.runID == id })
}

// peerAt returns a Sentinel at an address, nil if m knows none.
func (m *master) peerAt(host string, port int) *peer {
	return first(m.peers, func(p *peer) bool { return p.addr.is(host, port) })
}

// removePeer removes the Sentinel of that id and reports whether m knew it.
func (m *master) removePeer(id string) bool {
	p := m.peerByID(id)
	if p == nil {
		return false
	}
	m.peers = slices.DeleteFunc(m.peers, func(other *peer) bool { return other == p })
	p.link.release()
	return true
}

// setDownAfter changes the time after which m, its replicas and its Sentinels are down.
func (m *master) setDownAfter(millis int64) {
	m.downAfter = millis
	for _, r := range m.replicas {
		r.downAfter = millis
	}
	for _, p := range m.peers {
		p.downAfter = millis
	}
}

// drop removes m from the list and closes its connections.
func (s *Sentinel) drop(m *master) {
	s.masters = slices.DeleteFunc(s.masters, func(other *master) bool { return other == m })
	m.link.release()
	m.dropReplicas()
	m.dropPeers()
}

// dropReplicas forgets the replicas of m and closes their connections.
func (m *master) dropReplicas() {
	for _, r := range m.replicas {
		r.link.release()
	}
	m.replicas = nil
}

// dropPeers forgets the other Sentinels of m.
func (m *master) dropPeers() {
	for _, p := range m.peers {
		p.link.release()
	}
	m.peers = nil
}

// reset brings m into the state of a new primary: without its replicas, its Sentinels unless
// keepPeers, its connections and its failover.
func (s *Sentinel) reset(m *master, keepPeers bool) {
	m.dropReplicas()
	if !keepPeers {
		m.dropPeers()
	}
	m.link.disconnect()
	m.flags = 0
	m.leader, m.runID = "", ""
	m.failover = failover{}
	m.saysReplica, m.roleAt = false, s.now()
	l := m.link
	l.pingPending, l.pingSent = s.now(), 0
	l.validAt, l.pongAt = s.now(), s.now()
}

// moveTo changes the address of m and forgets its state. Its other replicas stay, and the node
// at the old address becomes one.
func (s *Sentinel) moveTo(m *master, addr address) {
	var known []address
	for _, r := range m.replicas {
		if !addr.is(r.addr.host, r.addr.port) {
			known = append(known, r.addr)
		}
	}
	if !addr.is(m.addr.host, m.addr.port) {
		known = append(known, m.addr)
	}
	s.reset(m, true)
	m.addr = addr
	m.sDownAt, m.oDownAt = 0, 0
	for _, each := range known {
		if r := s.addReplica(m, each); r != nil {
			s.notice("+slave", "%v", r)
		}
	}
	s.flush()
}

// disconnect closes the connections to m and to its replicas.
func (m *master) disconnect() {
	m.link.disconnect()
	for _, r := range m.replicas {
		r.link.disconnect()
	}
}
