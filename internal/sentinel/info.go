package sentinel

import (
	"fmt"
	"strings"

	"github.com/lockredis/lockredis/internal/config"
	"github.com/lockredis/lockredis/resp"
)

// closeInfoPeriod is the period of INFO to a replica whose primary is down, or that has lost
// its primary, in ms.
const closeInfoPeriod = 1000

// data returns the part of i that takes INFO, nil for another Sentinel.
func (i *instance) data() *dataNode {
	switch {
	case i.peer != nil:
		return nil
	case i.replica != nil:
		return &i.replica.dataNode
	}
	return &i.master.dataNode
}

// infoIsDue reports whether n is to be sent INFO now.
func (n *dataNode) infoIsDue() bool {
	if n.s.hurried > 0 {
		return n.link.pending == 0
	}
	return n.infoAt == 0 || n.s.since(n.infoAt) > n.infoPeriod()
}

// infoPeriod is how often n is sent INFO.
func (n *dataNode) infoPeriod() int64 {
	if r := n.replica; r != nil && (r.linkDown != 0 || r.master.has(oDown|failoverInProgress)) {
		return closeInfoPeriod
	}
	return n.s.periods.info
}

// takeInfo takes the reply to INFO.
func (n *dataNode) takeInfo(reply resp.Reply) {
	if reply.Kind() != resp.KindBulk {
		return
	}
	s, r := n.s, n.replica
	n.info = reply.Text()
	if r != nil {
		r.linkDown = 0
	}
	known, says := false, false
	for line := range strings.SplitSeq(n.info, "\r\n") {
		switch name, value, _ := strings.Cut(line, ":"); {
		case name == "run_id" && len(value) >= 40:
			n.takeRunID(value[:40])
		case n.isMaster() && len(name) > 5 && strings.HasPrefix(name, "slave") &&
			name[5] >= '0' && name[5] <= '9':
			n.master.discover(value)
		case name == "role":
			known, says = true, strings.HasPrefix(value, "slave")
		case r != nil && (says || name == "master_link_down_since_seconds"):
			r.read(name, value)
		}
	}
	n.infoAt = s.now()
	if known && says != n.saysReplica {
		n.saysReplica, n.roleAt = says, s.now()
		if r != nil && says {
			r.confAt = s.now()
		}
		n.reportRole()
	}
	if known && r != nil && !s.tilted {
		r.checkRole()
	}
}

// takeRunID notices a node that has restarted.
func (n *dataNode) takeRunID(id string) {
	if n.runID != "" && n.runID != id {
		n.s.notice("+reboot", "%v", n)
		if m := n.master; n.isMaster() && m.rebootDownAfter != 0 {
			m.set(rebooted)
			m.rebootedAt = n.s.now()
		}
	}
	n.runID = id
}

// reportRole tells subscribers that n reports another role than before: + for the role that
// this Sentinel expects.
func (n *dataNode) reportRole() {
	name := "-role-change"
	if n.saysReplica == (n.replica != nil) {
		name = "+role-change"
	}
	n.s.event(config.LogVerbose, name, fmt.Sprintf("%v new reported role is %s", n, n.role()))
}
