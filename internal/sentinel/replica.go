package sentinel

import (
	"cmp"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/lockredis/lockredis/resp"
)

// usualPriority is the priority of a replica that has not told one.
const usualPriority = 100

// replica is a replica of a primary, as this Sentinel sees it. Its name is its address.
type replica struct {
	dataNode
	masterHost string // the primary that it reports, "": none yet
	masterPort int
	linkUp     bool  // its link to the primary works
	linkDown   int64 // how long the link has been down, in ms
	confAt     int64 // when the primary that it reports changed
	priority   int   // 0: it is never promoted
	offset     uint64
	hidden     bool  // replica-announced no: clients do not see it
	reconfAt   int64 // when it was told to follow the promoted replica
}

// addReplica adds the replica at an address to m. It returns nil when m has it.
func (s *Sentinel) addReplica(m *master, addr address) *replica {
	r := &replica{confAt: s.now(), priority: usualPriority}
	r.dataNode = dataNode{saysReplica: true, roleAt: s.now()}
	r.instance = instance{s: s, addr: addr, downAfter: m.downAfter, link: s.newLink(), master: m,
		replica: r, helloSent: s.now(), name: net.JoinHostPort(s.written(addr), strconv.Itoa(addr.port))}
	if slices.ContainsFunc(m.replicas, func(other *replica) bool { return other.name == r.name }) {
		return nil
	}
	m.replicas = append(m.replicas, r)
	return r
}

// replicaAt returns the replica at an address, nil if m knows none.
func (m *master) replicaAt(host string, port int) *replica {
	return first(m.replicas, func(r *replica) bool { return r.addr.is(host, port) })
}

// discover adds the replica of a line slaveN of the primary's INFO. Redis before 2.8 writes
// "ip,port,state", others "ip=…,port=…,…".
func (m *master) discover(value string) {
	var host, port string
	if _, rest, ok := strings.Cut(value, "ip="); ok {
		host, _, _ = strings.Cut(rest, ",")
		if _, rest, ok = strings.Cut(rest, "port="); !ok {
			return
		}
		port, _, _ = strings.Cut(rest, ",")
	} else {
		words := strings.SplitN(value, ",", 3)
		if len(words) < 3 {
			return
		}
		host, port = words[0], words[1]
	}
	s := m.s
	addr, err := s.addressOf(host, leadingInt(port))
	if err != nil || m.replicaAt(host, addr.port) != nil {
		return
	}
	if r := s.addReplica(m, addr); r != nil {
		s.notice("+slave", "%v", r)
		s.flush()
	}
}

// read takes a line of the replica's INFO. The lines about its primary come behind the role.
func (r *replica) read(name, value string) {
	switch name {
	case "master_link_down_since_seconds":
		r.linkDown = int64(leadingInt(value)) * 1000
	case "master_host":
		if !strings.EqualFold(value, r.masterHost) {
			r.masterHost, r.confAt = value, r.s.now()
		}
	case "master_port":
		if port := leadingInt(value); port != r.masterPort {
			r.masterPort, r.confAt = port, r.s.now()
		}
	case "master_link_status":
		r.linkUp = strings.EqualFold(value, "up")
	case "slave_priority":
		r.priority = leadingInt(value)
	case "slave_repl_offset":
		r.offset = leadingUint(value)
	case "replica_announced":
		r.hidden = leadingInt(value) == 0
	}
}

// follow makes the replica follow to, or makes it a primary if to is nil. Its clients are
// disconnected, so that they ask for the primary again. The replies do not matter: INFO shows
// what has become of it. follow reports whether there is a connection.
func (r *replica) follow(to *address) bool {
	c := r.link.cmd
	if c == nil {
		return false
	}
	host, port := "NO", "ONE"
	if to != nil {
		host, port = r.s.shown(*to), strconv.Itoa(to.port)
	}
	for _, words := range [][]string{
		{"MULTI"}, {"SLAVEOF", host, port}, {"CONFIG", "REWRITE"},
		{"CLIENT", "KILL", "TYPE", "normal"}, {"CLIENT", "KILL", "TYPE", "pubsub"}, {"EXEC"},
	} {
		c.send(ignore, r.command(words...)...)
	}
	return true
}

// reply describes a replica.
func (r *replica) reply() resp.Reply {
	var f fields
	r.describe(&f)
	r.describeInfo(&f)
	f.number("master-link-down-time", r.linkDown)
	link := "err"
	if r.linkUp {
		link = "ok"
	}
	f.text("master-link-status", link)
	f.text("master-host", cmp.Or(r.masterHost, "?"))
	f.number("master-port", int64(r.masterPort))
	f.number("slave-priority", int64(r.priority))
	f.text("slave-repl-offset", strconv.FormatUint(r.offset, 10))
	announced := int64(1)
	if r.hidden {
		announced = 0
	}
	f.number("replica-announced", announced)
	return resp.Map(f.all...)
}

// replicas lists the replicas of m that want to be seen.
func replicas(_ *Sentinel, m *master) resp.Reply {
	var all []resp.Reply
	for _, r := range m.replicas {
		if !r.hidden {
			all = append(all, r.reply())
		}
	}
	return resp.Array(all...)
}
