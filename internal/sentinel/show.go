package sentinel

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
)

// fields collects the names and values that describe an instance.
type fields struct{ all []resp.Reply }

func (f *fields) text(name, value string) {
	f.all = append(f.all, resp.BulkString(name), resp.BulkString(value))
}

func (f *fields) number(name string, n int64) { f.text(name, strconv.FormatInt(n, 10)) }

// flagNames are the flags as clients see them, in Redis's order.
func (i *instance) flagNames() string {
	var names []string
	add := func(on bool, name string) {
		if on {
			names = append(names, name)
		}
	}
	add(i.has(sDown), "s_down")
	add(i.has(oDown), "o_down")
	add(true, i.kind())
	add(i.link.disconnected, "disconnected")
	add(i.has(masterDown), "master_down")
	add(i.has(failoverInProgress), "failover_in_progress")
	add(i.has(promoted), "promoted")
	add(i.has(reconfSent), "reconf_sent")
	add(i.has(reconfInProgress), "reconf_inprog")
	add(i.has(reconfDone), "reconf_done")
	add(i.has(forced), "force_failover")
	add(i.has(scriptKillSent), "script_kill_sent")
	return strings.Join(names, ",")
}

// describe writes the fields that primaries and Sentinels have in common.
func (i *instance) describe(f *fields) {
	s, l := i.s, i.link
	f.text("name", i.name)
	f.text("ip", s.shown(i.addr))
	f.number("port", int64(i.addr.port))
	f.text("runid", i.runID)
	f.text("flags", i.flagNames())
	f.number("link-pending-commands", int64(l.pending))
	f.number("link-refcount", int64(l.refs))
	if i.has(failoverInProgress) {
		f.text("failover-state", i.master.failover.state.String())
	}
	f.number("last-ping-sent", s.ago(l.pingPending))
	f.number("last-ok-ping-reply", s.since(l.validAt))
	f.number("last-ping-reply", s.since(l.pongAt))
	if i.has(sDown) {
		f.number("s-down-time", s.since(i.sDownAt))
	}
	if i.has(oDown) {
		f.number("o-down-time", s.since(i.master.oDownAt))
	}
	f.number("down-after-milliseconds", i.downAfter)
}

// describeInfo writes the fields that primaries and replicas have in common.
func (n *dataNode) describeInfo(f *fields) {
	f.number("info-refresh", n.s.ago(n.infoAt))
	f.text("role-reported", n.role())
	f.number("role-reported-time", n.s.since(n.roleAt))
}

// role returns the role that n reports.
func (n *dataNode) role() string {
	if n.saysReplica {
		return "slave"
	}
	return "master"
}

// ago is since, and 0 for a time that is 0.
func (s *Sentinel) ago(t int64) int64 {
	if t == 0 {
		return 0
	}
	return s.since(t)
}

// String returns the state's name in "failover-state".
func (f failoverState) String() string {
	return [...]string{"none", "wait_start", "select_slave", "send_slaveof_noone", "wait_promotion",
		"reconf_slaves", "update_config"}[f]
}

// reply describes a primary.
func (m *master) reply() resp.Reply {
	var f fields
	m.describe(&f)
	m.describeInfo(&f)
	f.text("config-epoch", strconv.FormatUint(m.configEpoch, 10))
	f.number("num-slaves", int64(len(m.replicas)))
	f.number("num-other-sentinels", int64(len(m.peers)))
	f.number("quorum", int64(m.quorum))
	f.number("failover-timeout", m.failoverTimeout)
	f.number("parallel-syncs", int64(m.parallelSyncs))
	return resp.Map(f.all...)
}

// reply describes another Sentinel.
func (p *peer) reply() resp.Reply {
	var f fields
	p.describe(&f)
	f.number("last-hello-message", p.s.since(p.helloAt))
	f.text("voted-leader", cmp.Or(p.leader, "?"))
	f.text("voted-leader-epoch", strconv.FormatUint(p.leaderEpoch, 10))
	return resp.Map(f.all...)
}

// infoSection returns the lines of INFO's section sentinel.
func (s *Sentinel) infoSection(*command.Ctx) []any {
	tilt, tiltSeconds := 0, int64(-1)
	if s.tilted {
		tilt, tiltSeconds = 1, s.since(s.tiltedAt)/1000
	}
	lines := []any{
		"sentinel_masters", len(s.masters), "sentinel_tilt", tilt,
		"sentinel_tilt_since_seconds", tiltSeconds, "sentinel_running_scripts", 0,
		"sentinel_scripts_queue_length", 0, "sentinel_simulate_failure_flags", int(s.crashes),
	}
	for i, m := range s.masters {
		status := "ok"
		switch {
		case m.has(oDown):
			status = "odown"
		case m.has(sDown):
			status = "sdown"
		}
		lines = append(lines, "master"+strconv.Itoa(i), "name="+m.name+",status="+status+
			",address="+s.shown(m.addr)+":"+strconv.Itoa(m.addr.port)+
			",slaves="+strconv.Itoa(len(m.replicas))+",sentinels="+strconv.Itoa(len(m.peers)+1))
	}
	return lines
}
