package sentinel

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/glob"
	"github.com/lockredis/lockredis/resp"
)

var (
	errNoSuchMaster  = resp.Error("ERR No such master with that name")
	errSave          = resp.Error("ERR Failed to save config file. Check server logs.")
	errOnlyHello     = resp.Error("ERR Only HELLO messages are accepted by Sentinel instances.")
	errNoGoodReplica = resp.Error("NOGOODSLAVE No suitable replica to promote")
	errInProgress    = resp.Error("INPROG Failover already in progress")
	errQuorumNumber  = resp.Error("ERR Invalid quorum")
	errPortNumber    = resp.Error("ERR Invalid port")
	errHostOrIP      = resp.Error("ERR Invalid IP address or hostname specified")
	errUnblocked     = resp.Error("UNBLOCKED client unblocked via CLIENT UNBLOCK")
)

// run is a handler that needs the Sentinel.
type run func(s *Sentinel, c *command.Ctx, args resp.Args) resp.Reply

// with binds a handler to s.
func (s *Sentinel) with(r run) command.Func {
	return func(c *command.Ctx, args resp.Args) resp.Reply { return r(s, c, args) }
}

// forMaster returns a handler whose third argument names a primary.
func forMaster(r func(s *Sentinel, m *master) resp.Reply) run {
	return func(s *Sentinel, _ *command.Ctx, args resp.Args) resp.Reply {
		m := s.find(args.String(2))
		if m == nil {
			return errNoSuchMaster
		}
		return r(s, m)
	}
}

// saved flushes the configuration and returns the reply to the command that changed it.
func (s *Sentinel) saved() resp.Reply {
	if !s.flush() {
		return errSave
	}
	return resp.OK
}

func masters(s *Sentinel, _ *command.Ctx, _ resp.Args) resp.Reply {
	all := make([]resp.Reply, len(s.masters))
	for i, m := range s.masters {
		all[i] = m.reply()
	}
	return resp.Array(all...)
}

func describeMaster(_ *Sentinel, m *master) resp.Reply { return m.reply() }

func sentinels(_ *Sentinel, m *master) resp.Reply {
	all := make([]resp.Reply, len(m.peers))
	for i, p := range m.peers {
		all[i] = p.reply()
	}
	return resp.Array(all...)
}

func myid(s *Sentinel, _ *command.Ctx, _ resp.Args) resp.Reply { return resp.BulkString(s.id) }

func masterAddr(s *Sentinel, _ *command.Ctx, args resp.Args) resp.Reply {
	m := s.find(args.String(2))
	if m == nil {
		return resp.NilArray
	}
	addr := m.currentAddr()
	return resp.Array(resp.BulkString(s.shown(addr)), resp.BulkInt(int64(addr.port)))
}

// isMasterDown tells another Sentinel whether a primary is down for this one, and votes for it
// when it asks for that.
func isMasterDown(s *Sentinel, _ *command.Ctx, args resp.Args) resp.Reply {
	port, ok1 := resp.ParseInt(args[3])
	epoch, ok2 := resp.ParseInt(args[4])
	if !ok1 || !ok2 {
		return resp.ErrNotInt
	}
	down, leader, leaderEpoch := false, "", uint64(0)
	if m := s.findAt(args.String(2), int(port)); m != nil {
		down = m.has(sDown) && !s.tilted
		if candidate := args.String(5); candidate != "*" {
			leader, leaderEpoch = s.vote(m, uint64(epoch), candidate)
		}
	}
	return resp.Array(resp.Flag(down), resp.BulkString(cmp.Or(leader, "*")), resp.Int(int64(leaderEpoch)))
}

func resetMasters(s *Sentinel, _ *command.Ctx, args resp.Args) resp.Reply {
	count := int64(0)
	for _, m := range s.masters {
		if glob.Match(args.String(2), m.name, false) {
			s.reset(m, false)
			s.warn("+reset-master", "%v", m)
			count++
		}
	}
	return resp.Int(count)
}

// forceFailover starts a failover without asking the other Sentinels.
func forceFailover(s *Sentinel, m *master) resp.Reply {
	switch {
	case m.has(failoverInProgress):
		return errInProgress
	case s.bestReplica(m) == nil:
		return errNoGoodReplica
	}
	s.opts.Log.Warn("Executing user requested FAILOVER of '" + m.name + "'")
	s.startFailover(m)
	m.set(forced)
	return resp.OK
}

func pendingScripts(*Sentinel, *command.Ctx, resp.Args) resp.Reply { return resp.EmptyArray }

func flushConfig(s *Sentinel, _ *command.Ctx, _ resp.Args) resp.Reply { return s.saved() }

func remove(s *Sentinel, m *master) resp.Reply {
	s.warn("-monitor", "%v", m)
	s.drop(m)
	return s.saved()
}

// monitor adds a primary. A host name is resolved without the engine's lock: the client waits.
func monitor(s *Sentinel, c *command.Ctx, args resp.Args) resp.Reply {
	quorum, ok := resp.ParseInt(args[5])
	if !ok {
		return errQuorumNumber
	}
	port, ok := resp.ParseInt(args[4])
	switch {
	case !ok:
		return errPortNumber
	case quorum <= 0:
		return resp.Error("ERR " + errQuorum.Error())
	}
	name, host := args.String(2), args.String(3)
	if canonical(host) != "" {
		return s.addMaster(name, address{host, canonical(host), int(port)}, uint32(quorum))
	}
	if !s.global.resolveHostnames || c.DenyBlocking() {
		return errHostOrIP
	}
	session := c.Session
	c.Parking.Park(&command.Parked{Session: session, Cmd: c.Cmd, OnTimeout: errUnblocked})
	waiting := session.Parked
	s.spawn(func() {
		addr := s.lookUp(address{host: host, port: int(port)})
		s.engine.Outside(func() {
			if session.Parked != waiting {
				return // the client has gone, or CLIENT UNBLOCK has answered it
			}
			reply := errHostOrIP
			if addr.ip != "" {
				reply = s.addMaster(name, addr, uint32(quorum))
			}
			c.Parking.Unpark(session, reply)
		})
	})
	return resp.NoReply
}

// addMaster begins to monitor a primary whose address is resolved.
func (s *Sentinel) addMaster(name string, addr address, quorum uint32) resp.Reply {
	switch {
	case addr.port < 0 || addr.port > 65535:
		return resp.Error("ERR " + errPort.Error())
	case s.find(name) != nil:
		return resp.Error("ERR " + errDuplicate.Error())
	}
	m := s.newMaster(name, addr, quorum)
	s.masters = append(s.masters, m)
	reply := s.saved()
	s.warn("+monitor", "%v quorum %d", m, int32(m.quorum))
	return reply
}

// checkQuorum tells whether enough Sentinels are up to agree that m is down, and to elect a
// leader.
func checkQuorum(_ *Sentinel, m *master) resp.Reply {
	usable, voters := 1, len(m.peers)+1
	for _, p := range m.peers {
		if !p.has(sDown) {
			usable++
		}
	}
	var missing []string
	if usable < int(m.quorum) {
		missing = append(missing, "Not enough available Sentinels to reach the specified quorum "+
			"for this master")
	}
	if usable < voters/2+1 {
		missing = append(missing, "Not enough available Sentinels to reach the majority and "+
			"authorize a failover")
	}
	count := strconv.Itoa(usable) + " usable Sentinels. "
	if len(missing) > 0 {
		return resp.Error("NOQUORUM " + count + strings.Join(missing, ". "))
	}
	return resp.Status("OK " + count + "Quorum and failover authorization can be reached")
}

// infoCache returns the last INFO of the named primaries and of their replicas.
func infoCache(s *Sentinel, _ *command.Ctx, args resp.Args) resp.Reply {
	var all []resp.Reply
	seen := map[string]bool{}
	for i := 2; i < len(args); i++ {
		m := s.find(args.String(i))
		if m == nil || seen[m.name] {
			continue
		}
		seen[m.name] = true
		nodes := []resp.Reply{m.cached()}
		for _, r := range m.replicas {
			nodes = append(nodes, r.cached())
		}
		all = append(all, resp.BulkString(m.name), resp.Array(nodes...))
	}
	return resp.Array(all...)
}

// cached returns the last INFO of n and its age.
func (n *dataNode) cached() resp.Reply {
	info := resp.Nil
	if n.infoAt != 0 {
		info = resp.BulkString(n.info)
	}
	return resp.Array(resp.Int(n.s.ago(n.infoAt)), info)
}

// publish takes the hello of another Sentinel. Sentinels publish their events themselves.
func publish(s *Sentinel, _ *command.Ctx, args resp.Args) resp.Reply {
	if args.String(1) != helloChannel {
		return errOnlyHello
	}
	s.takeHello(args.String(2))
	return resp.Int(1)
}

func role(s *Sentinel, _ *command.Ctx, _ resp.Args) resp.Reply {
	names := make([]string, len(s.masters))
	for i, m := range s.masters {
		names[i] = m.name
	}
	return resp.Array(resp.BulkString("sentinel"), resp.BulkArray(names))
}
