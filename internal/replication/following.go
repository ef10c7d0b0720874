package replication

import (
	"context"
	"fmt"
	"net"
	"strconv"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
)

// following is this server's place behind a primary.
type following struct {
	host  string
	port  int
	phase phase
	link  *link            // that is under way; nil: the next beat makes one
	known bool             // the stream's id and offset are of a primary, or were ours before: PSYNC names them
	load  command.FileLoad // of the file that comes
	begun int64            // when load began, Unix s
	down  int64            // beats since the stream was lost; -1: there was none
}

// phase is how far a link has come.
type phase uint8

const (
	toConnect phase = iota
	connecting
	handshake
	syncing
	connected
)

// String returns the phase as ROLE shows it.
func (p phase) String() string {
	return [...]string{"connect", "connecting", "handshake", "sync", "connected"}[p]
}

// Follow makes this server a replica of another one. Its own replicas stay until it gets another stream
// than theirs: they may continue then.
//
// Redis 7.0.15: replicationSetMaster in replication.c.
func (r *Replication) Follow(host string, port int) resp.Reply {
	r.follow(host, port)
	return resp.OK
}

func (r *Replication) follow(host string, port int) {
	was := r.following
	if was != nil && was.host == host && was.port == port {
		return
	}
	next := &following{host: host, port: port, down: -1}
	if was == nil {
		// As in Redis, what this server has may be a part of the other's stream.
		next.known = r.started
		if r.stop != nil {
			r.stop()
			r.stop = nil
		}
	} else {
		was.unlink()
		next.known, next.down = was.known, was.down
	}
	r.following = next
	r.env.Config.Follow(host, port)
	r.engine.EndWaits()
	r.log.Info(fmt.Sprintf("Connecting to MASTER %s", next.addr()))
	r.connect()
	r.engine.Attend()
	r.planBeat()
}

// FollowDirective follows the server that the directive replicaof names, or leads if it names none. It
// ends a failover.
func (r *Replication) FollowDirective() {
	r.abortFailover("replicaof is put back")
	if host := r.env.Config.Replication.Host; host != "" {
		r.follow(host, r.env.Config.Replication.Port)
	} else {
		r.Lead()
	}
}

// Forget makes the data those of no stream: they were replaced, and no stream has told it. The next
// replicas get all of them.
func (r *Replication) Forget() {
	r.cutReplicas()
	if r.following != nil {
		r.following.known = false
		r.following.unlink()
	}
	if r.backlog != nil {
		r.end()
	}
}

// Lead makes this server a primary. Its data stay, and so do the offsets: its stream continues the
// one that it has followed, with another id.
//
// Redis 7.0.15: replicationUnsetMaster in replication.c.
func (r *Replication) Lead() resp.Reply {
	if r.following != nil {
		r.lead()
		r.engine.Leads()
	}
	return resp.OK
}

func (r *Replication) lead() {
	r.following.unlink()
	r.following = nil
	r.env.Config.Follow("", 0)
	id := r.currentID()
	r.id, r.id2, r.offset2 = newID(r.env.Rand), id, r.offset+1
	r.cutReplicas()
	if r.backlog != nil {
		r.stop = r.engine.Follow(r.tell)
	}
	r.db, r.alone = -1, 0
	r.log.Info(fmt.Sprintf("Setting secondary replication ID to %s, valid up to offset: %d. New replication ID is %s",
		r.id2, r.offset2, r.id))
	r.engine.Attend()
}

// Follows reports whether this server is a replica.
func (r *Replication) Follows() bool { return r.following != nil }

// Linked returns a channel that is closed when the first link with a primary is up.
func (r *Replication) Linked() <-chan struct{} { return r.linked }

// Age returns how old the data of this replica may be: how long its primary has been silent, or the link
// down, in seconds. linked is false if it never had a link to its primary.
func (r *Replication) Age() (seconds int64, linked bool) {
	f := r.following
	switch {
	case f == nil:
		return 0, true
	case f.phase == connected:
		return f.link.silence, true
	}
	return f.down, f.down >= 0
}

// Stale reports whether this server is a replica that has no link to its primary, and may not show
// its data then.
func (r *Replication) Stale() bool {
	return r.following != nil && r.following.phase != connected && !r.env.Config.Replication.ServeStale
}

// cutReplicas closes the connections of this server's replicas.
func (r *Replication) cutReplicas() {
	for len(r.replicas) > 0 {
		r.env.Clients.Kill(r.replicas[0].session)
	}
}

func (f *following) addr() string { return net.JoinHostPort(f.host, strconv.Itoa(f.port)) }

// unlink ends the link.
func (f *following) unlink() {
	if f.link != nil {
		if f.phase == connected {
			f.down = 0
		}
		f.link.cancel()
		f.link, f.phase, f.load = nil, toConnect, command.NoLoad
	}
}

// begin notes how the file of the primary is loaded from now on.
func (f *following) begin(load command.FileLoad, now int64) { f.load, f.begun = load, now/1000 }

// Load returns how the file of the primary is loaded while it comes.
func (r *Replication) Load() command.FileLoad {
	if r.following == nil {
		return command.NoLoad
	}
	return r.following.load
}

// connect begins a link to the primary.
func (r *Replication) connect() {
	if r.engine.Ending() || r.engine.Down() {
		return
	}
	dial, err := r.env.Server.Dialer()
	if err != nil {
		r.log.Warn("Unable to connect to MASTER", "error", err)
		return
	}
	ctx, cancel := context.WithCancel(r.ctx)
	l := &link{
		r: r, following: r.following, cancel: cancel, acks: make(chan int64, 1),
		dial: dial, greeting: r.greeting(),
	}
	r.following.link, r.following.phase = l, connecting
	r.goroutines.Go(func() { l.run(ctx) })
}

// greeting returns what this server says of itself to a primary.
func (r *Replication) greeting() greeting {
	cfg, id := &r.env.Config.Replication, r.env.Server.Identity()
	g := greeting{user: cfg.User, password: cfg.Password, port: id.Port, ip: cfg.AnnounceIP}
	if r.env.Config.TLS.Links {
		g.port = id.TLSPort
	}
	if cfg.AnnouncePort != 0 {
		g.port = cfg.AnnouncePort
	}
	if r.env.Cluster != nil { // by this address its primary finds it, see HandOver
		at := r.env.Reach().For(r.env.Config.TLS.Links)
		g.ip, g.port = at.IP, at.Port
	}
	return g
}

// lost follows the end of a link. err is why it ended.
func (r *Replication) lost(l *link, err error) {
	f := l.following
	if l.session != nil {
		r.engine.Leave(l.session)
	}
	if r.following != f || f.link != l {
		return // this server follows another one now, or none
	}
	if r.failover != nil && r.failover.handing {
		r.abortFailover("Write error to failover target")
		return
	}
	wasUp := f.phase == connected
	f.unlink()
	r.engine.Attend()
	r.log.Warn("The link with the MASTER has ended", "address", f.addr(), "error", err)
	if wasUp {
		r.connect()
	}
}

// watch does what is due each second while this server is a replica.
func (r *Replication) watch() {
	f := r.following
	if f.phase != connected {
		if f.down >= 0 {
			f.down++
		}
		for _, other := range r.replicas {
			// Not a part of the stream: it says that this server lives.
			if s := other.session; s.Replica.State == command.Online {
				s.Conn.Write([]byte("\n"))
			}
		}
	}
	switch l := f.link; {
	case l == nil:
		r.connect()
	case l.silent(r.env.Config.Replication.Timeout):
		r.log.Warn("Timeout connecting to the MASTER, or no data nor PING received", "address", f.addr())
		l.cancel()
	case f.phase == connected:
		l.acknowledge(r.offset)
	}
}

// primaryStatus returns what INFO and ROLE show of the primary; nil: this server has none.
func (r *Replication) primaryStatus() *command.PrimaryStatus {
	f := r.following
	if f == nil {
		return nil
	}
	status := &command.PrimaryStatus{
		Host: f.host, Port: f.port, State: f.phase.String(), Up: f.phase == connected,
		Syncing: f.phase == syncing, Offset: -1, Silence: -1, Down: f.down,
		Load: f.load, LoadBegun: f.begun,
	}
	if l := f.link; l != nil {
		if status.Up {
			status.Silence = l.silence
		}
		status.FileBytes, status.FileRead = l.fileBytes.Load(), l.fileRead.Load()
	}
	if f.known {
		status.Offset = r.offset
	}
	return status
}
