package replication

import (
	"fmt"
	"math"
	"net"
	"strconv"
	"time"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
)

// failover is FAILOVER under way: this primary waits until a replica has the whole stream, asks it to
// lead, and follows it. Writes wait meanwhile.
//
// Redis 7.0.15: failoverCommand in replication.c.
type failover struct {
	host    string // of the target; "": the first replica that has the stream
	port    int
	force   bool
	offset  int64 // that the target must have
	handing bool  // this server has asked the target to lead
	// give makes the target lead, in a cluster. Nil: this server asks it with PSYNC.
	give func()
}

var (
	errFailoverNone    = resp.Error("ERR No failover in progress.")
	errFailoverTwice   = resp.Error("ERR FAILOVER already in progress.")
	errFailoverReplica = resp.Error("ERR FAILOVER is not valid when server is a replica.")
	errFailoverAlone   = resp.Error("ERR FAILOVER requires connected replicas.")
	errFailoverForce   = resp.Error("ERR FAILOVER with force option requires both a timeout and target HOST and IP.")
	errFailoverTarget  = resp.Error("ERR FAILOVER target HOST and PORT is not a replica.")
	errFailoverOnline  = resp.Error("ERR FAILOVER target replica is not online.")
	errFailoverLink    = resp.Error("NOMASTERLINK Can't SYNC while failing over")
)

// Failover hands the lead over to a replica.
func (r *Replication) Failover(request command.FailoverRequest) resp.Reply {
	switch {
	case r.failover != nil:
		return errFailoverTwice
	case r.following != nil:
		return errFailoverReplica
	case len(r.replicas) == 0:
		return errFailoverAlone
	case request.Force && (request.Timeout == 0 || request.Host == ""):
		return errFailoverForce
	}
	next := &failover{host: request.Host, port: request.Port, force: request.Force}
	if request.Host != "" {
		f := r.findReplica(request.Host, request.Port)
		switch {
		case f == nil:
			return errFailoverTarget
		case f.session.Replica.State != command.Online:
			return errFailoverOnline
		}
	}
	r.log.Info("FAILOVER requested to " + next.target() + ".")
	r.startFailover(next, request.Timeout)
	return resp.OK
}

// startFailover begins a failover, which ends by itself after a time in ms; 0: never.
func (r *Replication) startFailover(next *failover, timeout int64) {
	next.offset = r.offset
	r.failover = next
	r.env.Pausing.Pause(math.MaxInt64, true)
	if timeout > 0 {
		r.env.Server.After(time.Duration(timeout)*time.Millisecond, func() {
			r.engine.Outside(func() { r.failoverTimedOut(next) })
		})
	}
	// Asked only now: the question is a part of the stream, which a replica that is to lead must have.
	if r.handOver(); r.failover == next && !next.handing {
		r.requestAcks()
	}
}

// handOverLimit is how long HandOver waits for the replica, in ms.
const handOverLimit = 5000

// HandOver calls give when a replica has the whole stream: its cluster makes it lead. Clients that write
// wait meanwhile. It gives up after five seconds, as Redis does.
func (r *Replication) HandOver(host string, port int, give func()) {
	if r.failover == nil && r.following == nil {
		r.startFailover(&failover{host: host, port: port, give: give}, handOverLimit)
	}
}

// target returns the target's address as the log shows it.
func (f *failover) target() string {
	if f.host == "" {
		return "any replica"
	}
	return net.JoinHostPort(f.host, strconv.Itoa(f.port))
}

// AbortFailover ends a failover that is under way.
func (r *Replication) AbortFailover() resp.Reply {
	if r.failover == nil {
		return errFailoverNone
	}
	r.abortFailover("Failover manually aborted")
	return resp.OK
}

func (r *Replication) abortFailover(reason string) {
	f := r.failover
	if f == nil {
		return
	}
	r.log.Info(fmt.Sprintf("FAILOVER to %s aborted: %s", f.target(), reason))
	r.failover = nil
	if f.handing {
		r.lead()
	}
	r.env.Pausing.Unpause()
}

func (r *Replication) failoverTimedOut(f *failover) {
	switch {
	case r.failover != f || f.handing:
	case f.force:
		r.log.Info("FAILOVER to " + f.target() + " time out exceeded, failing over.")
		r.hand(f)
	default:
		r.abortFailover("Replica never caught up before timeout")
	}
}

// handOver asks the target to lead if it has the whole stream.
func (r *Replication) handOver() {
	f := r.failover
	if f == nil || f.handing {
		return
	}
	for _, other := range r.replicas {
		s := other.session
		if (f.host == "" || other.at(f.host, f.port)) && s.Replica.State == command.Online && s.Replica.Acked >= f.offset {
			f.host, f.port = s.ReplicaIP(), s.Replica.Port
			r.log.Info("Failover target " + f.target() + " is synced, failing over.")
			if f.give == nil {
				r.hand(f)
				return
			}
			r.failover = nil
			f.give()
			r.env.Pausing.Unpause()
			return
		}
	}
}

func (r *Replication) hand(f *failover) {
	f.handing = true
	r.follow(f.host, f.port)
}

// handed follows the target's reply to PSYNC. ok is false if it refuses.
func (r *Replication) handed(ok bool) {
	switch {
	case r.failover == nil || !r.failover.handing:
	case ok:
		r.failover = nil
		r.env.Pausing.Unpause()
	default:
		r.abortFailover("Failover target rejected psync request")
	}
}

// findReplica returns the replica at an address.
func (r *Replication) findReplica(host string, port int) *replica {
	for _, f := range r.replicas {
		if f.at(host, port) {
			return f
		}
	}
	return nil
}

// at reports whether the replica has an address.
func (f *replica) at(host string, port int) bool {
	return f.session.ReplicaIP() == host && f.session.Replica.Port == port
}

// failoverState returns the state as INFO shows it.
func (r *Replication) failoverState() string {
	switch {
	case r.failover == nil || r.failover.give != nil:
		return "no-failover"
	case r.failover.handing:
		return "failover-in-progress"
	}
	return "waiting-for-sync"
}

// takeLead follows PSYNC with the word FAILOVER: the primary with the stream id asks this replica to
// lead.
func (r *Replication) takeLead(id string) (refusal resp.Reply, ok bool) {
	r.log.Warn("Failover request received for replid " + id + ".")
	switch {
	case r.following == nil:
		return errHandedMaster, false
	case id != r.currentID():
		return errHandedID, false
	}
	r.Lead()
	r.log.Info("MASTER MODE enabled (failover request)")
	return refusal, true
}

var (
	errHandedMaster = resp.Error("ERR PSYNC FAILOVER can't be sent to a master.")
	errHandedID     = resp.Error("ERR PSYNC FAILOVER replid must match my replid.")
)

// psync returns the words that ask for the stream.
func (r *Replication) psync(f *following) []string {
	id, offset := "?", int64(-1)
	if f.known {
		id, offset = r.currentID(), r.offset+1
	}
	words := []string{"PSYNC", id, strconv.FormatInt(offset, 10)}
	if r.failover != nil {
		words = append(words, "FAILOVER")
	}
	return words
}
