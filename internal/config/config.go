package config

import (
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/lockredis/lockredis/internal/keyevent"
)

// Config is the configuration of one server. New and Parse make it. Set and Load
// write the fields when their directives change. The root package also writes the
// fields of the listeners, before the server starts.
type Config struct {
	// Connections read these fields without the engine lock.
	ProtoMaxBulkLen  atomic.Int64 // bytes
	QueryBufferLimit atomic.Int64 // bytes
	Timeout          atomic.Int64 // seconds of idleness before a client is closed, 0: never
	BusyReply        atomic.Int64 // busy-reply-threshold, ms
	TCPKeepAlive     atomic.Int64 // seconds between probes, 0: none

	// Freed is called when much memory has become garbage at once: a database was emptied, or
	// a client has gone that had much unread output or input. It must not block. It is set before
	// the server starts; nil: nothing is called.
	Freed func()

	// Listening is called when the server's addresses are open, before it reads a file. It must
	// not use the server. It is set before the server starts; nil: nothing is called.
	Listening func()

	// While the server runs, the engine lock guards these fields.
	NotifyEvents                   keyevent.Class
	RequirePass                    string
	OpenChannels                   bool // acl-pubsub-default: new users may use all channels
	ACLLogMax                      int  // entries of ACL LOG
	MaxClients                     int
	MaxMemory                      int64 // bytes, 0: no limit
	Eviction                       Eviction
	Lazyfree                       Lazyfree
	Databases                      int
	OutputLimits                   [3]OutputLimit // by ClientClass
	ProtectedMode                  bool
	DebugCommand, ProtectedConfigs Access
	LockCommands                   Access // AccessNo: the engine has no such commands
	ModuleCommand                  Access // enable-module-command
	MinReplicas, ReplicaLag        int64  // min-replicas-to-write, min-replicas-max-lag
	Replication                    Replication
	TLS                            TLS
	Cluster                        Cluster
	LogLevel                       slog.Level
	RDB                            RDB
	SlowerThan                     int64     // µs from which on SLOWLOG keeps a command; negative: none
	SlowlogMax                     int64     // entries of SLOWLOG
	LatencyThreshold               int64     // ms from which on LATENCY keeps an event, 0: it keeps none
	LatencyTracking                bool      // keep a histogram for each command
	LatencyPercentiles             []float64 // that INFO latencystats shows
	Dir                            string    // relative file names start here

	// The limits of compact encodings, in elements and in bytes of a value.
	HashEntries, HashValue int
	ZSetEntries, ZSetValue int
	SetIntEntries          int
	ListSize               int // negative: a class of sizes, see list-max-listpack-size
	ListDepth              int // list-compress-depth, which only DEBUG OBJECT shows
	HLLSparseBytes         int // of a whole sparse HyperLogLog
	StreamNodeBytes        int64
	TrackingMaxKeys        int64 // tracking-table-max-keys; 0: no limit
	StreamNodeEntries      int64

	// These fields are read once, at the start. File names are as they were given:
	// Path makes them absolute.
	Bind           []string // addresses; a leading "-" marks an optional address
	Port           int      // 0: no TCP socket
	PortAuto       bool     // "port auto": any free port
	PortFile       string   // the file that the port is written to, "": none
	UnixSocket     string
	UnixSocketPerm os.FileMode // 0: the umask decides
	LogFile        string      // "": standard output
	PIDFile        string      // "": none
	Supervised     string      // no, auto, systemd or upstart
	Daemonize      bool        // run in the background; Check refuses it outside of the program
	AOF            AOF
	Topology       Topology
	ExitWithParent bool   // end when the parent process ends
	Control        bool   // the process that started the program controls the server, see internal/control
	ParentPID      int    // end when this process ends, too; 0: none
	Emulate        string // the server whose version and commands this one has, see Valkey
	Renames        []Rename
	ACLFile        string     // "": none
	Users          []UserLine // the user lines, in order
	File           string     // absolute path of the configuration file, "": none
	Sentinel       bool       // the program is a Sentinel, not a server
	SentinelLines  []SentinelLine
	// SentinelState returns the sentinel lines that Rewrite writes, in order. Nil: none.
	SentinelState func() []SentinelStateLine

	// UserState returns the user lines that Rewrite writes: the words after "user". Nil:
	// Rewrite keeps the lines as they are.
	UserState func() [][]string

	// Sum is a checksum of the texts of the arguments, the files and standard input.
	Sum uint32

	detaches bool // the process can start itself again in the background
	table    *table
	settings []setting // one for each directive of the table, in its order
	// included means that an included file has ended. From then on each line of save begins
	// again, as in Redis.
	included bool
	doubts   []doubt // what Check refuses
	hooks    []hook  // in the order of registration
}

// Access is a value of enable-debug-command, enable-lock-commands, enable-module-command
// and enable-protected-configs: it says which clients may use DEBUG, use LOCK.LIST and
// LOCK.LEAKS, use MODULE, or change protected directives.
type Access string

// The values of Access.
const (
	AccessNo    Access = "no"
	AccessYes   Access = "yes"
	AccessLocal Access = "local" // only clients of the loopback interface and of the Unix socket
)

// Allows reports whether a client has access. local says that the client is on
// this machine.
func (a Access) Allows(local bool) bool { return a == AccessYes || a == AccessLocal && local }

// Offered reports whether any client has access.
func (a Access) Offered() bool { return a == AccessYes || a == AccessLocal }

// ClientClass is a kind of clients with an output limit of its own.
type ClientClass int

// The classes of client-output-buffer-limit.
const (
	NormalClient ClientClass = iota
	ReplicaClient
	PubSubClient
)

// OutputLimit is one class's client-output-buffer-limit.
type OutputLimit struct {
	Hard        uint64 // bytes of queued output that close the client at once, 0: no limit
	Soft        uint64 // bytes that close it after SoftSeconds above them, 0: no limit
	SoftSeconds int64
}

// Replication are the directives of replication.
type Replication struct {
	Backlog    int64 // bytes of the stream that are kept for replicas that come back
	BacklogTTL int64 // seconds without replicas after which they are not kept; 0: no end
	PingPeriod int64 // seconds between two PINGs in the stream
	Timeout    int64 // seconds of silence that end a connection

	Host           string // replicaof at the start; "": the server is a primary
	Port           int
	User, Password string // masteruser, masterauth
	ReadOnly       bool   // a replica refuses writes
	SwapDB         bool   // repl-diskless-load swapdb, see command.FileLoad
	ServeStale     bool   // a replica without a link shows its data
	IgnoreMemory   bool   // a replica evicts nothing
	Priority       int64  // for Sentinels
	Announced      bool   // Sentinels list it
	AnnounceIP     string // "": the connection's
	AnnouncePort   int    // 0: the server's
}

// ReplicaLimit returns the output limit of a replica. Its hard limit is at least the backlog, as in
// Redis: a smaller one would cut a replica that may come back and get as much at once.
func (c *Config) ReplicaLimit() OutputLimit {
	limit := c.OutputLimits[ReplicaClient]
	if limit.Hard != 0 {
		limit.Hard = max(limit.Hard, uint64(c.Replication.Backlog))
	}
	return limit
}

// RequiresReplicas reports whether writes are refused while the server has too few replicas.
func (c *Config) RequiresReplicas() bool { return c.MinReplicas > 0 && c.ReplicaLag > 0 }

// Rename is a rename-command line. To is "" when the command is removed.
type Rename struct {
	From, To string
	line     position
}

// Errorf returns the error that the program ends with when it cannot carry out
// the line. The error has Redis's form.
func (r Rename) Errorf(format string, args ...any) error {
	return &FatalError{at: r.line, Reason: fmt.Sprintf(format, args...)}
}

// setting is a directive with its value in one Config.
type setting struct {
	*directive
	value  string
	loaded bool // a line of a configuration file has set it
}

// New returns a Config with the defaults of Redis 7.0.15. Only the default of
// bind differs: it is the loopback interface.
func New() *Config { return newConfig(standard) }

func newConfig(t *table) *Config {
	c := &Config{table: t, settings: make([]setting, len(t.directives))}
	for i := range t.directives {
		s := &c.settings[i]
		s.directive = &t.directives[i]
		c.put(s, s.start())
	}
	return c
}

// find returns the setting with a name or alias in any case, nil when there is
// none.
func (c *Config) find(name string) *setting {
	i, ok := c.table.find(name)
	if !ok {
		return nil
	}
	return &c.settings[i]
}

// put stores a checked value and sets the field that follows it.
func (c *Config) put(s *setting, value string) {
	s.value = value
	if s.set != nil {
		s.set(c, value)
	}
}

// Get returns a directive's value as CONFIG GET shows it. It returns "" when
// there is no such directive.
func (c *Config) Get(name string) string {
	if s := c.find(name); s != nil {
		return s.shown(s.value)
	}
	return ""
}

// Pair is a directive with its value.
type Pair struct{ Name, Value string }

// Match returns what CONFIG GET answers: the directives with a name or alias that
// matches one of the patterns. A pattern without glob characters is a name; the
// answer keeps its spelling.
func (c *Config) Match(patterns []string, match func(pattern, name string) bool) []Pair {
	var found []Pair
	seen := map[string]bool{}
	add := func(name string, s *setting) {
		if lower := strings.ToLower(name); !seen[lower] {
			seen[lower] = true
			found = append(found, Pair{name, s.shown(s.value)})
		}
	}
	for _, pattern := range patterns {
		if !strings.ContainsAny(pattern, "[*?") {
			if s := c.find(pattern); s != nil {
				add(pattern, s)
			}
			continue
		}
		for i := range c.settings {
			s := &c.settings[i]
			if s.has(hidden) {
				continue
			}
			if match(pattern, s.name) {
				add(s.name, s)
			}
			if s.alias != "" && match(pattern, s.alias) {
				add(s.alias, s)
			}
		}
	}
	return found
}

// FirstBind returns the first address of the directive bind, "*" if there is none.
func (c *Config) FirstBind() string {
	if len(c.Bind) == 0 {
		return "*"
	}
	return strings.TrimPrefix(c.Bind[0], "-")
}

// TrustPeers makes the server send its own password to a primary, if the directives name none for that.
func (c *Config) TrustPeers() error {
	if c.RequirePass == "" || c.Replication.Password != "" {
		return nil
	}
	return c.Load("masterauth", c.RequirePass)
}

// OwnIP returns FirstBind if it is the address of one machine, else 127.0.0.1.
func (c *Config) OwnIP() string {
	if ip := net.ParseIP(c.FirstBind()); ip != nil && !ip.IsUnspecified() {
		return c.FirstBind()
	}
	return "127.0.0.1"
}

// Path returns the absolute form of a file name. A relative name is relative to
// the directive dir. "" stays "".
func (c *Config) Path(name string) string {
	if name == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(c.Dir, name)
}
