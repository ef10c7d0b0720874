package faults

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/lockredis/lockredis/compat_test/rlock/topology"
)

// pause waits for d or until the campaign ends.
func (c *campaign) pause(d time.Duration) {
	for end := time.Now().Add(d); !c.ended.Load() && time.Now().Before(end); {
		time.Sleep(min(20*time.Millisecond, time.Until(end)))
	}
}

// rand returns a generator of the campaign.
func (c *campaign) rand(number uint64) *rand.Rand {
	return rand.New(rand.NewPCG(c.seed, number<<8+uint64(slices.Index(campaignKinds, c.kind))))
}

// disturbProcesses makes the faults of processes until the campaign ends.
func (c *campaign) disturbProcesses() {
	rnd := c.rand(2)
	for !c.ended.Load() {
		c.pause(time.Duration(300+rnd.IntN(900)) * time.Millisecond)
		n := c.nodes[rnd.IntN(processes)]
		switch at := rnd.Float64(); {
		case at < 0.35:
			n.shutDown()
		case at < 0.55:
			n.process().net.Drop()
		case at < 0.75:
			n.cutOff(lease + lease/4)
		case at < 0.9:
			n.cutOff(300 * time.Millisecond)
		case c.kind != semaphore: // the permits of a dead process are lost
			n.crash()
		}
	}
}

// shutDown is the event of node.shutDown.
const shutDown = "shut down"

// shutDown ends a process as a program should: while its workers acquire.
func (n *node) shutDown() {
	end := n.c.rec.begin(shutDown, n.number, false)
	defer end()
	old := n.replace()
	old.cancel()
	limited, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	start := n.c.rec.now()
	err := old.close(limited)
	if took := n.c.rec.now() - start; took > 5*time.Second+lateReturn {
		n.c.rec.violate("call", "Close took "+took.String())
	}
	if err != nil {
		n.c.rec.fail(err)
	}
	old.end()
}

// cutOff holds all bytes of a process for a time and delivers them then.
func (n *node) cutOff(d time.Duration) {
	end := n.c.rec.begin("cut off", n.number, false)
	defer end()
	p := n.process()
	p.net.Stall()
	n.c.pause(d)
	p.net.Resume()
}

// crash ends a process without a word to its servers.
func (n *node) crash() {
	end := n.c.rec.begin("crash", n.number, false)
	defer end()
	old := n.replace()
	old.net.Stall()
	old.cancel()
	limited, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	old.close(limited)
	old.end()
}

// disturbServers makes the faults of servers until the campaign ends.
func (c *campaign) disturbServers() {
	rnd := c.rand(3)
	for c.server && len(c.tp.Nodes) > 0 && !c.ended.Load() {
		c.pause(time.Duration(3000+rnd.IntN(3000)) * time.Millisecond)
		if c.ended.Load() {
			return
		}
		if c.tp.Replicated() {
			c.disturbReplicated(rnd)
		} else {
			c.disturbSingle(rnd)
		}
	}
}

func (c *campaign) disturbSingle(rnd *rand.Rand) {
	if c.kind == quorumLock {
		c.disturbOneOfThree(rnd)
		return
	}
	server := c.tp.Nodes[0]
	if c.counts() || rnd.Float64() < 0.5 {
		end := c.rec.begin("the server stops", -1, false)
		server.Freeze(c.t)
		c.pause(time.Duration(200+rnd.IntN(1000)) * time.Millisecond)
		server.Thaw(c.t)
		end()
		return
	}
	end := c.rec.begin("the server restarts empty", -1, true)
	server.Kill()
	c.pause(time.Duration(rnd.IntN(500)) * time.Millisecond)
	server.Restart(c.t)
	end()
}

// disturbOneOfThree stops or kills one server of a quorum. That is no reason for a lock
// to stay free. A killed server stays down for the longest lease, as Quorum asks for.
func (c *campaign) disturbOneOfThree(rnd *rand.Rand) {
	all := append([]*topology.Topology{c.tp}, c.more...)
	server := all[rnd.IntN(len(all))].Nodes[0]
	if rnd.Float64() < 0.5 {
		c.rec.begin("a server of three stops", -1, false)()
		server.Freeze(c.t)
		c.pause(lease + lease/2)
		server.Thaw(c.t)
		return
	}
	c.rec.begin("a server of three restarts empty", -1, false)()
	server.Kill()
	c.pause(lease + lease/2)
	server.Restart(c.t)
}

func (c *campaign) disturbReplicated(rnd *rand.Rand) {
	key := c.names[rnd.IntN(len(c.names))]
	master := c.tp.Master(c.t, key)
	fault := rnd.IntN(4)
	lossy := c.tp.Kind == topology.Sentinel
	if fault == 0 && lossy && c.counts() {
		fault = 1 // a lost release would cost a permit for ever
	}
	switch fault {
	case 0:
		// The sentinels promote a replica first. Until they demote the old master, it grants
		// locks that another replica confirms, and that are lost.
		end := c.rec.begin("the master hands over", -1, lossy)
		c.tp.Failover(c.t, key)
		c.tp.Heal(c.t)
		end()
	case 1:
		end := c.rec.begin("the master dies", -1, false)
		master.Kill()
		c.tp.AwaitNewMaster(c.t, key, master)
		end()
		c.pause(time.Second)
		end = c.rec.begin("the old master returns", -1, false)
		c.tp.Heal(c.t)
		end()
	case 2:
		end := c.rec.begin("the master stops", -1, false)
		master.Freeze(c.t)
		c.tp.AwaitNewMaster(c.t, key, master)
		end()
		c.pause(time.Second)
		end = c.rec.begin("the old master continues", -1, false)
		c.tp.Heal(c.t)
		end()
	case 3:
		end := c.rec.begin(replicaStops, -1, false)
		if c.onlyReplica() {
			defer end()
		} else {
			end() // it is no reason for a lock to stay free
		}
		c.replica(master).Freeze(c.t)
		c.pause(3 * time.Second)
		end = c.rec.begin("the replica continues", -1, false)
		c.tp.Heal(c.t)
		end()
	}
}

const replicaStops = "a replica stops"

// onlyReplica reports whether each master has a single replica. While that is stopped, no other
// confirms an acquisition.
func (c *campaign) onlyReplica() bool { return c.tp.Kind == topology.Cluster }

// replica returns a data node that is not the master.
func (c *campaign) replica(master *topology.Node) *topology.Node {
	for _, n := range c.tp.Nodes {
		role, err := n.Do("ROLE")
		if fields, ok := role.([]any); err == nil && ok && fields[0] == "slave" && n != master {
			return n
		}
	}
	return master
}
