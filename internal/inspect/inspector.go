package inspect

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockredis/lockredis/store"
)

// Engine is what an Inspector needs of the engine.
type Engine interface {
	State
	// Outside runs unit as the only one inside the engine, and returns when it has run.
	Outside(unit func())
}

// State is the engine's state. Its methods are called inside the engine.
type State interface {
	// Space returns the databases.
	Space() *store.Space
	// ScriptKeys visits the keys that scripts wrote, in no order. It visits nothing unless
	// the engine records such keys.
	ScriptKeys(do func(ScriptKey))
	// ScriptKey returns what ScriptKeys knows of one key. ok is false for other keys.
	ScriptKey(db int, key string) (k ScriptKey, ok bool)
	// NewStrings visits the strings that SET with NX, SETNX or MSETNX created with a token
	// as the value, in no order, for clients and for scripts. Keys that hold another value
	// by now may be among them. It visits nothing unless the engine records such keys.
	NewStrings(do func(NewString))
	// History returns which owners have acquired locks last. It is empty unless the engine
	// records the keys that scripts write.
	History() *History
	// Asks returns the owners that asked for a lock and were refused. There are none unless the engine
	// records the keys that scripts write.
	Asks(db int, name string) Asks
	// BeginProbe has Asks return asks for permits of a semaphore, too, until end is called. number is how many
	// asks there have been, of all locks.
	BeginProbe(db int, name string) (number int64, end func())
	// Connected reports whether a client's connection is open. 0 is no client's, and always open.
	Connected(id int64) bool
	// Clients visits the clients that wait in a blocking command or are subscribed to
	// something, oldest first.
	Clients(do func(Client))
	// NewString returns what NewStrings knows of one key. ok is false for other keys.
	NewString(db int, key string) (n NewString, ok bool)
	// Publish sends a message to the subscribers of the channel and of the shard channel of that
	// name. It returns how many clients got it.
	Publish(channel, message string) (clients int)
	// NextDeadline returns when the timer has something to do next, in Unix ms: a key, a wait or
	// a pause ends, or a save point is reached. ok is false if it has nothing to do.
	NextDeadline() (at int64, ok bool)
	// TurnTo turns the clock to a time, unless it has passed, and ends everything whose deadline has
	// come.
	TurnTo(at time.Time)
}

// ScriptKey is a key that scripts have written since the key was created.
type ScriptKey struct {
	DB    int
	Key   string
	By    Origin // the client whose script wrote the key last
	Hints Hints  // of all scripts that wrote it
	// Entries tell who is in the key's value. An owner that is no longer in the value may be
	// among them. They are the engine's.
	Entries *Entries
}

// NewString is a string that was set on condition that there is no key yet.
type NewString struct {
	DB    int
	Key   string
	Value string
	Since int64 // when it was set, Unix ms
	By    Origin
	// Named says that the key has a name that KnowLocks knows.
	Named bool
}

// Origin is a client that ran a script or a command.
type Origin struct {
	ID   int64 // 0: unknown
	Addr string
	Name string // set by CLIENT SETNAME, "" without
}

// String returns the address, and the name in parentheses if there is one.
func (o Origin) String() string {
	if o.Name == "" {
		return o.Addr
	}
	return o.Addr + " (" + o.Name + ")"
}

// Client is a client that waits for something or listens to something.
type Client struct {
	Origin
	DB                                int   // its selected database
	Wait                              *Wait // nil: no blocking command waits
	Channels, Patterns, ShardChannels []Topic
}

// Topic is a subscription of a client.
type Topic struct {
	Name  string
	Since int64 // Unix ms; 0: unknown
}

// Wait is a blocking command that waits.
type Wait struct {
	Command  string // as in the command table: "blpop"
	Keys     []string
	Since    int64 // Unix ms
	Deadline int64 // Unix ms; 0: it waits for ever
}

// Snapshot is what the inspector saw in one unit.
type Snapshot struct {
	Now     int64    // the server's time, Unix ms
	Locks   []Lock   // held or queued for, by database and name
	Permits []Permit // acquired, by database, semaphore and id
	Clients []Client // that wait or listen, oldest first

	empty     map[string]bool // the channels that clients listen to, of semaphores without a free permit
	announces func(channel string) (name, owner string, kind Kind)
}

// Inspector looks at a server from outside its engine. Its methods may be called from any
// goroutine, but not inside the engine: Inside is for that.
type Inspector struct {
	engine Engine
	known  map[string]bool // ids of lock clients; guarded by the engine
	uuid   [uuidLen]byte   // that MayOwn has seen last; guarded by the engine

	isLock func(key string) bool // see KnowLocks; nil: no key is
	client Process               // see KnowProcess
}

// New returns the inspector of an engine.
func New(e Engine) *Inspector { return &Inspector{engine: e, known: map[string]bool{}} }

// Inside returns the view for a caller that is inside the engine.
func (i *Inspector) Inside() View { return View{state: i.engine, known: i.known} }

// Know makes the inspector recognise the owners "<id>:<thread>" of a lock client, whatever the
// id looks like.
func (i *Inspector) Know(id string) { i.engine.Outside(func() { i.known[id] = true }) }

// KnowLocks makes the inspector take strings for locks if a client sets them and isLock returns true
// for their keys, whatever they hold. It is called before the engine starts.
func (i *Inspector) KnowLocks(isLock func(key string) bool) { i.isLock = isLock }

// KnowProcess makes the inspector recognise a process that writes its host's name and its id, such as
// "host:4711", into locks. It is called before the engine starts.
func (i *Inspector) KnowProcess(host string, pid int) {
	i.client = Process{host, strconv.Itoa(pid)}
}

// IsLockName reports whether KnowLocks has said that a key is a lock.
func (i *Inspector) IsLockName(key string) bool { return i.isLock != nil && i.isLock(key) }

// IsToken reports whether a value is a random token, see the function IsToken, or names the process
// of KnowProcess.
func (i *Inspector) IsToken(value []byte) bool {
	return (len(value) >= tokenBytes || i.client.Host != "") && i.isToken(string(value))
}

func (i *Inspector) isToken(value string) bool { return IsToken(value) || i.client.Wrote(value) }

// Enter calls do inside the engine.
func (i *Inspector) Enter(do func(View)) { i.engine.Outside(func() { do(i.Inside()) }) }

// Look returns the locks, the permits, and the waiting and listening clients.
func (i *Inspector) Look() (seen Snapshot) {
	i.engine.Outside(func() { seen = i.Inside().Look() })
	return seen
}

// Step is View.Step for a caller outside the engine.
func (i *Inspector) Step(end, wall time.Time) (ended []Lease, more bool) {
	i.engine.Outside(func() { ended, more = i.Inside().Step(end, wall) })
	return ended, more
}

// Turn is View.Turn for a caller outside the engine.
func (i *Inspector) Turn(end time.Time, wake bool, wall time.Time) (turned Turned) {
	i.engine.Outside(func() { turned = i.Inside().Turn(end, wake, wall) })
	return turned
}

// EndDue ends all keys whose deadline has come, and returns the time of the clock.
func (i *Inspector) EndDue() (now time.Time) {
	i.engine.Outside(func() {
		now = time.UnixMilli(i.engine.Space().Now())
		i.engine.TurnTo(now)
	})
	return now
}

// View looks at a server from inside its engine. It is valid as long as the caller's unit
// runs.
type View struct {
	state State
	known map[string]bool // ids of lock clients that need not be UUIDs
}

// Look returns the locks, the permits, and the waiting and listening clients.
func (v View) Look() Snapshot {
	clients := v.Clients()
	return Snapshot{
		Now: v.state.Space().Now(), Locks: v.Locks(), Permits: v.Permits(), Clients: clients,
		empty: v.emptySemaphores(clients), announces: v.announces,
	}
}

// Clients returns the clients that wait in a blocking command or are subscribed to
// something, oldest first.
func (v View) Clients() (clients []Client) {
	v.state.Clients(func(c Client) { clients = append(clients, c) })
	return clients
}

// Key is a key of any type.
type Key struct {
	DB   int
	Name string
}

// Acquired returns which owners have acquired locks last, in no order. It is valid while the caller's unit
// runs.
func (v View) Acquired() []Acquired { return v.state.History().All() }

// Keys returns the keys whose names wanted returns true for, by database and name.
func (v View) Keys(wanted func(name string) bool) (keys []Key) {
	for n, db := range v.state.Space().Opened() {
		var names []string // a look at a key may expire it, so the loop over the keys does not
		db.Each(func(e *store.Entry) bool {
			if wanted(e.Key()) {
				names = append(names, strings.Clone(e.Key()))
			}
			return true
		})
		slices.Sort(names)
		for _, name := range names {
			if db.Peek([]byte(name)) != nil {
				keys = append(keys, Key{n, name})
			}
		}
	}
	return keys
}
