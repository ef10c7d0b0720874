package sentinel

import (
	"fmt"
	"strings"

	"github.com/lockredis/lockredis/resp"
)

// helloChannel is the channel of a primary on which its Sentinels tell each other about
// themselves and about the primary.
const helloChannel = "__sentinel__:hello"

// sendHello tells i about this Sentinel and the primary. Another Sentinel takes it as a
// command, not as a message.
func (s *Sentinel) sendHello(i *instance) {
	ip := s.global.announceIP
	if ip == "" {
		ip = i.link.cmd.localIP
	}
	if i.link.disconnected || ip == "" {
		return
	}
	port := s.global.announcePort
	if port == 0 {
		port = s.port
	}
	m := i.master
	addr := m.currentAddr()
	hello := fmt.Sprintf("%s,%d,%s,%d,%s,%s,%d,%d", ip, port, s.id, s.epoch,
		m.name, s.shown(addr), addr.port, m.configEpoch)
	i.link.cmd.send(func(reply resp.Reply) {
		if !reply.IsError() {
			i.helloSent = s.now()
		}
	}, i.command("PUBLISH", helloChannel, hello)...)
}

// receiveHello takes a message of a primary's hello channel. Its own messages prove that the
// connection works, and are not looked at.
func (s *Sentinel) receiveHello(c *conn, reply resp.Reply) {
	c.link.activityAt = s.now()
	elems := reply.Elems()
	if len(elems) != 3 || elems[0].Text() != "message" {
		return
	}
	if text := elems[2].Text(); !strings.Contains(text, s.id) {
		s.takeHello(text)
	}
}

// hello is what a Sentinel says about itself and about its primary.
type hello struct {
	host        string
	port        int
	id          string
	epoch       uint64
	master      string
	masterHost  string
	masterPort  int
	configEpoch uint64
}

// parseHello reads a hello as C does: a text that is no number is 0.
func parseHello(text string) (h hello, ok bool) {
	f := strings.Split(text, ",")
	if len(f) != 8 {
		return hello{}, false
	}
	return hello{
		host: f[0], port: leadingInt(f[1]), id: f[2], epoch: leadingUint(f[3]),
		master: f[4], masterHost: f[5], masterPort: leadingInt(f[6]), configEpoch: leadingUint(f[7]),
	}, true
}

// takeHello learns from another Sentinel's hello: that it exists, the epoch, and the primary's
// address if the other one knows it better.
func (s *Sentinel) takeHello(text string) {
	h, ok := parseHello(text)
	if !ok {
		return
	}
	m := s.find(h.master)
	if m == nil {
		return
	}
	p := m.peerByID(h.id)
	if p == nil || !p.addr.is(h.host, h.port) {
		p = s.meet(m, h)
	}
	if h.epoch > s.epoch {
		s.newEpoch(m, h.epoch)
	}
	if p == nil {
		return
	}
	if m.configEpoch < h.configEpoch {
		m.configEpoch = h.configEpoch
		if !m.addr.is(h.masterHost, h.masterPort) {
			s.followTo(m, p, h)
		}
	}
	p.helloAt = s.now()
}

// meet adds the Sentinel of a hello to m, in place of entries with its id or its address. It
// returns nil when the hello's address is not valid.
func (s *Sentinel) meet(m *master, h hello) *peer {
	moved := m.removePeer(h.id)
	if moved {
		s.notice("+sentinel-address-switch", "%v ip %s port %d for %s", m, h.host, h.port, h.id)
	} else if other := m.peerAt(h.host, h.port); other != nil {
		s.notice("+sentinel-invalid-addr", "%v", other)
		for _, each := range s.masters {
			each.removePeer(other.runID)
		}
	}
	addr, err := s.addressOf(h.host, h.port)
	if err != nil {
		return nil
	}
	p := s.addPeer(m, h.id, addr)
	if moved {
		s.updatePeers(p)
	} else {
		s.notice("+sentinel", "%v", p)
		m.helloSent = 0 // the new one has not heard earlier hellos
	}
	s.flush()
	return p
}

// updatePeers gives the Sentinel that p is its new address at the other primaries.
func (s *Sentinel) updatePeers(p *peer) {
	updated := 0
	for _, m := range s.masters {
		same := m.peerByID(p.runID)
		if same == nil {
			continue
		}
		same.link.disconnect()
		if same != p {
			same.addr = p.addr
			updated++
		}
	}
	if updated > 0 {
		s.notice("+sentinel-address-update", "%v %d additional matching instances", p, updated)
	}
}

// newEpoch follows another Sentinel to a later epoch.
func (s *Sentinel) newEpoch(m *master, epoch uint64) {
	s.epoch = epoch
	s.flush()
	s.warn("+new-epoch", "%d", epoch)
}

// followTo changes the address of m to the hello's: another Sentinel has promoted a
// replica.
func (s *Sentinel) followTo(m *master, from *peer, h hello) {
	addr, err := s.addressOf(h.masterHost, h.masterPort)
	if r := m.replicaAt(h.masterHost, h.masterPort); r != nil {
		addr = r.addr // its name may be resolved
	}
	s.warn("+config-update-from", "%v", from)
	s.warn("+switch-master", "%s %s %d %s %d",
		m.name, s.shown(m.addr), m.addr.port, h.masterHost, h.masterPort)
	if err != nil {
		return
	}
	s.moveTo(m, addr)
}
