package replication

import (
	"cmp"
	"context"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/persist"
	"github.com/lockredis/lockredis/resp"
)

// Engine is what Replication needs of the engine.
type Engine interface {
	// Outside runs unit as the only one inside the engine, while no command runs.
	Outside(unit func())
	// Ending reports whether the server ends.
	Ending() bool
	// Down reports whether a test has stopped the server.
	Down() bool
	// Follow calls do with each command line that tells of a change, until stop is called. The command
	// that runs meanwhile is not told.
	Follow(do func(db int, line resp.Args)) (stop func())
	// Apply runs a command of the primary s. No key is over for it: the primary says when a key ends.
	Apply(s *command.Session, args resp.Args) resp.Reply
	// Steer counts and shows a command of the primary s that do carries out.
	Steer(s *command.Session, args resp.Args, do func(c *command.Ctx) resp.Reply) resp.Reply
	// Leads is called when a replica has become a primary: its keys have come from another server.
	Leads()
	// Join adds the session of a primary, and Leave removes it.
	Join(s *command.Session)
	Leave(s *command.Session)
	// EndWaits ends the waits of all clients, and closes their connections.
	EndWaits()
	// Attend is called after Follows, Stale or Good has changed.
	Attend()
}

// Options are the dependencies of a Replication.
type Options struct {
	Engine Engine
	Env    *command.Env
	Files  *persist.Files
	Log    *slog.Logger
	// Goroutines counts the goroutines of links to primaries. The engine waits for them when it closes.
	Goroutines *sync.WaitGroup
}

// Replication is a server's place among primaries and replicas. It is command.Replication. Its
// methods are called inside the engine.
type Replication struct {
	engine     Engine
	env        *command.Env
	files      *persist.Files
	log        *slog.Logger
	goroutines *sync.WaitGroup

	id, id2 string // id is "" while it is the run id, id2 is "" if there is none
	offset  int64  // of the stream's last byte; the first byte has 1
	offset2 int64  // up to where id2 is the same stream
	backlog *backlog
	stop    func() // ends the telling; nil: nothing is told

	following *following // nil: this server is a primary
	failover  *failover  // nil: none is under way
	started   bool       // it has served clients: its data may be those of a stream
	ctx       context.Context
	cancel    context.CancelFunc

	linked chan struct{} // closed when the first link is up

	replicas  []*replica
	waits     []*wait
	mostWaits int           // so many, and those that have ended are removed
	db        int           // that the stream's commands are about; -1: the next one is told with SELECT
	own       int64         // bytes at the stream's end that tell of no change: PING, REPLCONF GETACK
	asked     bool          // the replicas were asked for acknowledgements behind the last change
	line      []byte        // see tell
	beats     bool          // a beat is planned
	lags      map[place]int // writes that a test holds back, see SetLag
	pinged    int64         // beats since the last PING
	alone     int64         // beats since the last replica left
}

// New returns the replication of a primary without replicas.
func New(opts Options) *Replication {
	ctx, cancel := context.WithCancel(context.Background())
	return &Replication{
		engine: opts.Engine, env: opts.Env, files: opts.Files, log: opts.Log, goroutines: opts.Goroutines,
		offset2: -1, db: -1, ctx: ctx, cancel: cancel, linked: make(chan struct{}),
	}
}

// Start begins to follow the server that the directive replicaof names, if it names one. The data
// have been read. If their file names a stream, PSYNC continues it; a primary lets its replicas
// continue it.
func (r *Replication) Start() {
	host := r.env.Config.Replication.Host
	at, expired := r.files.Loaded()
	if len(at.ID) == len(noID) && at.Offset >= 0 {
		r.moveTo(at.Offset)
		r.db = at.DB
		r.backlog = newBacklog(r.env.Config.Replication.Backlog, at.Offset)
		if host != "" {
			r.id, r.started = at.ID, true
		} else {
			r.id, r.id2, r.offset2 = newID(r.env.Rand), at.ID, at.Offset+1
			r.db = -1
			r.begin()
			for _, k := range expired {
				r.tell(k.DB, command.Deletion(k.Name, r.env.Space.Lazyfree.Expire))
			}
		}
	}
	r.FollowDirective()
	r.started = true
}

// Place returns which data this server has, for its files.
func (r *Replication) Place() (at persist.Place) {
	known := r.backlog != nil
	if r.following != nil {
		known = r.following.known
	}
	if known {
		at = persist.Place{ID: r.currentID(), Offset: r.offset, DB: max(r.db, 0)}
	}
	return at
}

// Close ends the link to a primary. It may be called without the engine's lock.
func (r *Replication) Close() { r.cancel() }

// noID is the id of no stream.
var noID = strings.Repeat("0", 40)

// Status returns what INFO and ROLE show.
func (r *Replication) Status() command.ReplicationStatus {
	status := command.ReplicationStatus{
		ID: r.currentID(), ID2: cmp.Or(r.id2, noID), Offset: r.offset, Offset2: r.offset2,
	}
	if r.backlog != nil {
		status.Backlog, status.First, status.Kept = true, r.backlog.first(), r.backlog.kept()
		status.BacklogBytes = int64(cap(r.backlog.ring))
		if n := int64(len(r.longest())); n > status.Kept { // PSYNC finds it, too
			status.First, status.Kept = r.offset-n+1, n
		}
	}
	status.Primary, status.Failover = r.primaryStatus(), r.failoverState()
	for _, f := range r.replicas {
		status.Replicas = append(status.Replicas, f.session)
		status.Pending += int64(len(f.pending))
	}
	status.Unread = r.Unread()
	return status
}

// Unread returns how many bytes were sent to replicas, and not yet read by them.
func (r *Replication) Unread() (n int64) {
	for _, f := range r.replicas {
		n += int64(unread(f.session))
	}
	return n
}

// Offset returns the offset behind the last change.
func (r *Replication) Offset() int64 { return r.offset - r.own }

func (r *Replication) currentID() string { return cmp.Or(r.id, r.env.Server.Identity().RunID) }

// NewID draws another id for the stream. The stream of the old id ends.
func (r *Replication) NewID() { r.id, r.id2, r.offset2 = newID(r.env.Rand), "", -1 }

// newID returns 40 random hexadecimal digits.
func newID(rnd *rand.Rand) string {
	id := make([]byte, 0, 40)
	for range 40 {
		id = append(id, "0123456789abcdef"[rnd.IntN(16)])
	}
	return string(id)
}

// begin begins a stream, unless there is one.
func (r *Replication) begin() {
	if r.backlog == nil {
		r.NewID()
		r.backlog = newBacklog(r.env.Config.Replication.Backlog, r.offset)
	}
	if r.stop == nil && r.following == nil {
		r.stop = r.engine.Follow(r.tell)
	}
	r.planBeat()
}

// Resize follows a change of repl-backlog-size.
func (r *Replication) Resize() {
	if r.backlog != nil {
		r.backlog.resize(r.env.Config.Replication.Backlog)
	}
}

// end forgets the stream. A replica that comes later needs all data.
func (r *Replication) end() {
	if r.stop != nil {
		r.stop()
	}
	r.backlog, r.stop, r.db = nil, nil, -1
	r.NewID()
}

// tell adds a command line to the stream.
func (r *Replication) tell(db int, line resp.Args) {
	b := r.line[:0]
	if db != r.db {
		r.db = db
		b = resp.AppendCommand(b, []byte("SELECT"), command.Digits(int64(db)))
	}
	b = resp.AppendCommand(b, line...)
	r.feed(b)
	if r.line = b; cap(b) > maxLine {
		r.line = nil
	}
}

// maxLine is the largest buffer of a line that is used again, in bytes.
const maxLine = 64 << 10

// moveTo sets the offset. The other nodes of a cluster see it.
func (r *Replication) moveTo(offset int64) {
	r.offset = offset
	if c := r.env.Cluster; c != nil {
		c.Self().Offset.Store(offset)
	}
}

// feed adds bytes to the stream.
func (r *Replication) feed(b []byte) {
	r.moveTo(r.offset + int64(len(b)))
	r.own, r.asked = 0, false
	r.backlog.add(b)
	for _, f := range r.replicas {
		r.hear(f, b)
	}
}

// send adds a command of the replication itself to the stream.
func (r *Replication) send(words ...string) {
	b := resp.AppendCommand(nil, words...)
	own, asked := r.own+int64(len(b)), r.asked
	r.feed(b)
	r.own, r.asked = own, asked
}

// planBeat has the next beat come in a second.
func (r *Replication) planBeat() {
	if r.beats {
		return
	}
	r.beats = true
	r.env.Server.After(time.Second, func() {
		r.engine.Outside(func() {
			r.beats = false
			r.beat()
		})
	})
}

// beat does what is due each second while there is a stream.
func (r *Replication) beat() {
	if r.backlog == nil && r.following == nil || r.engine.Ending() {
		return
	}
	cfg := &r.env.Config.Replication
	r.dropSilent(cfg.Timeout)
	switch {
	case r.following != nil:
		r.watch()
	case r.failover != nil: // a PING would move the offset that the target must have
	case len(r.replicas) > 0:
		r.alone = 0
		if r.pinged++; r.pinged >= cfg.PingPeriod {
			r.pinged = 0
			r.send("PING")
		}
	case cfg.BacklogTTL > 0:
		if r.alone++; r.alone > cfg.BacklogTTL {
			r.alone = 0
			r.log.Info("Replication backlog freed after a time without connected replicas.")
			r.end()
			return
		}
	}
	r.planBeat()
}
