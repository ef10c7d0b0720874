package config

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/lockredis/lockredis/internal/keyevent"
)

// Config is the configuration of one server. New and Parse make it. The plain
// fields follow their directives (Set, Load) and are only written by them.
type Config struct {
	// Read by connections without the engine's lock.
	ProtoMaxBulkLen  atomic.Int64 // bytes
	HasPassword      atomic.Bool  // RequirePass is not ""
	QueryBufferLimit atomic.Int64 // bytes
	Timeout          atomic.Int64 // seconds of idleness before a client is closed, 0: never
	BusyReply        atomic.Int64 // busy-reply-threshold, ms
	TCPKeepAlive     atomic.Int64 // seconds between probes, 0: none

	NotifyEvents                   keyevent.Class
	RequirePass                    string
	MaxClients                     int
	MaxMemory                      int64 // bytes, 0: no limit
	Databases                      int
	OutputLimits                   [3]OutputLimit // by ClientClass
	ProtectedMode                  bool
	DebugCommand, ProtectedConfigs Access
	TLS                            TLS

	HashEntries, HashValue int
	ZSetEntries, ZSetValue int
	SetIntEntries          int
	ListSize               int

	// Read once, at the start. Names of files are as they were given: relative
	// ones are relative to dir, wherever that stood, see Path.
	Bind           []string // addresses; a leading "-" makes one optional
	Port           int      // 0: no TCP socket
	PortAuto       bool     // "port auto": any free port
	PortFile       string   // where the port is written to, "": nowhere
	UnixSocket     string
	UnixSocketPerm os.FileMode // 0: as the umask leaves it
	LogLevel       slog.Level
	LogFile        string // "": standard output
	PIDFile        string // "": none
	Dir            string // what relative paths of files are relative to
	ExitWithParent bool   // end when the process that started us ends
	Renames        []Rename
	File           string // absolute path of the configuration file, "": none

	values map[string]string // by canonical name
	loaded map[string]bool   // directives that a configuration file has set
	doubts []doubt           // what Check refuses unless a later line has made it good
	hooks  map[string]func() error
}

// Access says who may use what enable-debug-command and
// enable-protected-configs guard.
type Access string

// The values of the two directives.
const (
	AccessNo    Access = "no"
	AccessYes   Access = "yes"
	AccessLocal Access = "local" // clients of the loopback interface and of the Unix socket
)

// Allows reports whether a client may; local says that it is one of this
// machine.
func (a Access) Allows(local bool) bool { return a == AccessYes || a == AccessLocal && local }

// ClientClass tells clients apart whose output is limited differently.
type ClientClass int

// The classes of client-output-buffer-limit.
const (
	NormalClient ClientClass = iota
	ReplicaClient
	PubSubClient
)

// OutputLimit is one class's client-output-buffer-limit.
type OutputLimit struct {
	Hard        int64 // bytes of queued output that end the client at once, 0: no limit
	Soft        int64 // bytes that end it when they last for SoftSeconds, 0: no limit
	SoftSeconds int64
}

// Rename is a rename-command directive. To is "" to take the command away.
type Rename struct {
	From, To string
	line     position
}

// Errorf returns the error that Redis ends with when the directive cannot be
// carried out.
func (r Rename) Errorf(format string, args ...any) error {
	return &FatalError{at: r.line, Reason: fmt.Sprintf(format, args...)}
}

// New returns the defaults: Redis 7.0.15's, but for bind, which is loopback.
func New() *Config {
	c := &Config{
		values: make(map[string]string, len(directives)),
		loaded: map[string]bool{},
		hooks:  map[string]func() error{},
	}
	for i := range directives {
		d := &directives[i]
		c.values[d.name] = d.def
		c.assign(d.name, d.def)
	}
	if wd, err := os.Getwd(); err == nil {
		c.put("dir", wd)
	}
	return c
}

// find returns the directive of that name or alias in any spelling, and the
// spelling of the table; nil when there is none.
func find(name string) (*directive, string) {
	name = strings.ToLower(name)
	for i := range directives {
		if d := &directives[i]; d.name == name || d.alias == name && name != "" {
			return d, name
		}
	}
	return nil, ""
}

// Get returns a directive's value as CONFIG GET shows it, "" for a name that
// is no directive.
func (c *Config) Get(name string) string {
	value, _ := c.lookup(name)
	return value
}

func (c *Config) lookup(name string) (value string, ok bool) {
	d, _ := find(name)
	if d == nil {
		return "", false
	}
	return d.shown(c.values[d.name]), true
}

// Pair is a directive with its value.
type Pair struct{ Name, Value string }

// Match returns what CONFIG GET answers: the directives whose name or alias
// matches one of the patterns. A pattern without glob characters is looked up
// and keeps its spelling.
func (c *Config) Match(patterns []string, match func(pattern, name string) bool) []Pair {
	var found []Pair
	seen := map[string]bool{}
	add := func(name, value string) {
		if lower := strings.ToLower(name); !seen[lower] {
			seen[lower] = true
			found = append(found, Pair{name, value})
		}
	}
	for _, pattern := range patterns {
		if !strings.ContainsAny(pattern, "[*?") {
			if value, ok := c.lookup(pattern); ok {
				add(pattern, value)
			}
			continue
		}
		for i := range directives {
			d := &directives[i]
			if match(pattern, d.name) {
				add(d.name, d.shown(c.values[d.name]))
			}
			if d.alias != "" && match(pattern, d.alias) {
				add(d.alias, d.shown(c.values[d.name]))
			}
		}
	}
	return found
}

// put stores a checked value and the field that follows it.
func (c *Config) put(name, value string) {
	c.values[name] = value
	c.assign(name, value)
}

// Path makes a file's name absolute, as it is for a process that lives in dir.
// "" stays "".
func (c *Config) Path(name string) string {
	if name == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(c.Dir, name)
}

// OnChange has apply called after CONFIG SET has changed the directive. Its
// error undoes the whole CONFIG SET. Only the last apply of a name counts.
func (c *Config) OnChange(name string, apply func() error) { c.hooks[name] = apply }

const (
	// Version is lockredis's own version.
	Version = "0.1.0"
	// RedisVersion is the version of Redis that lockredis behaves like and that
	// it reports to clients.
	RedisVersion = "7.0.15"
)
