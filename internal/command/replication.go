package command

import (
	"net"

	"github.com/lockredis/lockredis/resp"
)

// Replication is the server's place among primaries and replicas.
type Replication interface {
	// Follow makes this server a replica of another one, and Lead a primary. They change nothing if it
	// is that already. They are not called during a failover.
	Follow(host string, port int) resp.Reply
	Lead() resp.Reply
	// Failover hands the lead over to a replica, and AbortFailover ends that.
	Failover(request FailoverRequest) resp.Reply
	AbortFailover() resp.Reply
	// Follows reports whether this server is a replica.
	Follows() bool
	// Sync makes c's connection a replica, see SyncRequest. The handler returns resp.NoReply after
	// it, or the error that Sync returns.
	Sync(c *Ctx, request SyncRequest) resp.Reply
	// Acked notes that a replica has everything up to an offset of the stream.
	Acked(s *Session, offset int64)
	// Wait has c's client wait until n replicas have all that was changed before, or until a deadline in
	// Unix ms; 0: none. It returns how many have it; waits is false if that is the reply to WAIT.
	Wait(c *Ctx, n, deadline int64) (have int64, waits bool)
	// Good returns how many replicas count for min-replicas-to-write.
	Good() int
	// NewID draws another replication id.
	NewID()
	// Status returns what INFO and ROLE show.
	Status() ReplicationStatus
}

// SyncRequest is what a replica asks for with SYNC or PSYNC.
type SyncRequest struct {
	// ID and Offset say which stream it has, and the first byte of it that it wants. ID is "?" if it
	// has none.
	ID     string
	Offset int64
	Old    bool // SYNC: a file without +FULLRESYNC, always of all data
	// Failover says that this server, which follows the one that asks, is to lead.
	Failover bool
}

// FailoverRequest is what FAILOVER asks for.
type FailoverRequest struct {
	Host    string // of the replica that is to lead; "": any
	Port    int
	Timeout int64 // ms; 0: none
	Force   bool  // after Timeout the replica leads, whatever it has
}

// Replica is what a connection has said of itself with REPLCONF, and what it has become by PSYNC.
type Replica struct {
	IP     string // "": the connection's
	Port   int    // where it listens
	EOF    bool   // it can read a file that ends with a mark, of unknown length
	Once   bool   // it wants the file and no stream
	PSync2 bool   // it knows that +CONTINUE may name another id
	// Without is what its file lacks.
	Without FileParts
	State   ReplicaState
	Acked   int64 // up to where it has the stream
	Lag     int64 // seconds since its last acknowledgement, or another sign of life before the stream
	// Answered is called in place of writing a reply or a message to it. See ReplyCuts.
	Answered func()
}

// FileParts are parts of an RDB file.
type FileParts struct{ Data, Functions bool }

// ReplicaState is the state of a connection that may become a replica.
type ReplicaState uint8

const (
	NoReplica    ReplicaState = iota // it has not asked for the stream
	AwaitsFile                       // the file is made; one without a length is sent meanwhile
	ReceivesFile                     // the file is sent
	Online                           // it gets the stream
)

// String returns the state as INFO shows it.
func (s ReplicaState) String() string {
	return [...]string{"none", "wait_bgsave", "send_bulk", "online"}[s]
}

// Follows reports whether the session is a replica.
func (s *Session) Follows() bool { return s.Replica != nil && s.Replica.State != NoReplica }

// ReplicaIP returns the address of a replica: the one that it has named, or the connection's.
func (s *Session) ReplicaIP() string {
	if s.Replica.IP != "" {
		return s.Replica.IP
	}
	host, _, _ := net.SplitHostPort(s.Addr)
	return host
}

// ReplicationStatus is what INFO and ROLE show.
type ReplicationStatus struct {
	ID, ID2         string // 40 hexadecimal digits
	Offset, Offset2 int64  // Offset2 is -1 if ID2 is of no stream
	Backlog         bool   // the stream's end is kept
	First, Kept     int64  // the offset of its first byte, and how many bytes are kept
	BacklogBytes    int64  // the memory of the stream's end
	Pending         int64  // bytes of the stream that wait until replicas have their files
	Unread          int64  // bytes that were sent to replicas, and not yet read by them
	Replicas        []*Session
	Failover        string         // "no-failover", "waiting-for-sync" or "failover-in-progress"
	Primary         *PrimaryStatus // nil: this server is a primary
}

// PrimaryStatus is what INFO and ROLE show of the server that this one follows.
type PrimaryStatus struct {
	Host      string
	Port      int
	State     string // "connect", "connecting", "handshake", "sync" or "connected"
	Up        bool   // the stream comes
	Syncing   bool   // all data come
	Offset    int64  // up to where this server has the stream; -1: it has none
	Silence   int64  // seconds since the primary was heard; -1: the link is down
	Down      int64  // seconds since the link was lost; -1: there was none
	FileBytes int64  // of the file that comes; 0: unknown
	FileRead  int64
	Load      FileLoad // of the file that comes
	LoadBegun int64    // Unix s
}

// FileLoad says what clients see while the file of a primary comes (repl-diskless-load swapdb), or is
// decoded. The present data stay until then, also if the file is broken.
type FileLoad uint8

const (
	NoLoad    FileLoad = iota
	LoadAlone          // the present data are those of another stream: as in Redis, no client sees them
	LoadAside          // clients see the present data
)
