package engine

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
)

// The journal is the one place that sees everything inside the engine: the bounds of
// each unit, each command with its reply, and each change of a key with its cause, expiry
// included. The inspector reads it, and telling, which has the changes for replication.
//
// By default it has no readers. Then each entry costs a comparison. A reader names the kinds that
// it wants, and costs nothing for the others.

// Kind is the kind of an Entry.
type Kind uint8

// The kinds of entries, with the fields of Entry that they set. All but the first two set Cause.
const (
	// UnitBegins and UnitEnds enclose all entries of one unit. A unit that runs at
	// a safe point of a script is enclosed in the script's unit; it changes nothing.
	UnitBegins Kind = iota
	UnitEnds
	// CommandBegins and CommandEnds enclose the changes of a command: Ctx, Args, and
	// at the end Reply. The entries of a script or an EXEC enclose the entries of its
	// commands.
	CommandBegins
	CommandEnds
	// Changed: a command says that it has changed a key, see Change.
	Changed
	// KeyAdded: the key was created, or a command put a new value in its place (RENAME,
	// COPY). Changed follows.
	KeyAdded
	// KeyExpired: the key was deleted because its deadline had come.
	KeyExpired
	// FieldsExpired: the Fields of the key's hash were deleted because their deadlines had come. If
	// they were its last ones, KeyExpired follows.
	FieldsExpired
	// KeyEvicted: the key was deleted because maxmemory was exceeded.
	KeyEvicted
	// KeyLoaded: the key was read from an RDB file.
	KeyLoaded
	// KeyMissed: a command that reads found no key Name. It comes only while Space.ReportMisses
	// is set.
	KeyMissed
	// Emptied: all keys of the database DB are about to go.
	Emptied
	// Swapped: the databases DB and Other have exchanged their numbers.
	Swapped
)

// Entry is one entry of the journal. It is valid until the reader returns.
type Entry struct {
	Kind  Kind
	Ctx   *command.Ctx
	Args  resp.Args
	Reply resp.Reply
	DB    int
	Key   string
	Name  []byte // in place of Key, in KeyMissed
	// Fields is in FieldsExpired, and in KeyExpired if the key went with its last fields.
	Fields []string
	Other  int
	// Change is what a command has said, in Changed. Then DB and Key are Change's.
	Change *command.Change
	Cause  *Cause
}

// Reason says what made a key change.
type Reason uint8

// The reasons.
const (
	ByTimer    Reason = iota // no command runs, and none of the other reasons
	ByCommand                // the command Ctx, in a script if Script is not nil
	ByEviction               // maxmemory was exceeded; Ctx is the command that needed memory, or nil
	ByLoad                   // an RDB file, or a command of an append-only log
	ByMigrate                // the end of MIGRATE: the other server has the keys
	ByKit                    // the test kit
)

// Cause is why a key has changed.
type Cause struct {
	Reason Reason
	Ctx    *command.Ctx // the running command, with its client; nil: none
	Args   resp.Args    // its command line; nil at the end of MIGRATE
	Script *Script      // the script or function that runs the command; nil: none
}

// Script is a run of a script or a function.
type Script struct {
	SHA        string // "" for a function
	Function   string // its name, "" for a script
	Keys, Args [][]byte
	Run        int64 // counts the runs
}

// reader is a reader of the journal.
type reader struct {
	read   func(*Entry)
	wanted kinds
}

// kinds is a set of Kinds.
type kinds uint32

func (k kinds) has(kind Kind) bool { return k>>kind&1 != 0 }

// journal passes entries to its readers.
type journal struct {
	readers []reader
	wanted  kinds   // that a reader wants
	entry   Entry   // the current entry; kept here so that an entry allocates nothing
	causes  []Cause // of the running commands, the outer ones first; causes[0] is of no command
	reason  Reason  // of changes outside of commands, and of the commands if it is not ByTimer
	script  Script  // the last run
	other   Cause   // see keyBecause
}

// ReadJournal adds a reader of entries of these kinds; of all if none is given. It is called before
// Start. The reader runs inside the engine and must not run commands.
func (e *Engine) ReadJournal(read func(*Entry), wanted ...Kind) {
	r := reader{read: read}
	for _, kind := range wanted {
		r.wanted |= 1 << kind
	}
	if len(wanted) == 0 {
		r.wanted = ^kinds(0)
	}
	j := &e.journal
	j.readers, j.wanted = append(j.readers, r), j.wanted|r.wanted
	e.env.Named = true
	if len(j.causes) == 0 {
		j.causes = append(j.causes, Cause{})
	}
	e.attend()
}

// isRead reports whether there is a reader.
func (j *journal) isRead() bool { return j.wanted != 0 }

// unit records that a unit begins or ends.
func (j *journal) unit(kind Kind) {
	if j.wanted.has(kind) {
		j.record(Entry{Kind: kind})
	}
}

// begins notes that a command begins. There is a reader.
func (j *journal) begins(c *command.Ctx, args resp.Args) {
	depth := len(j.causes)
	if depth == cap(j.causes) {
		j.causes = append(j.causes, Cause{})
	}
	j.causes = j.causes[:depth+1]
	cause := &j.causes[depth]
	cause.Ctx, cause.Args = c, args
	if j.wanted.has(CommandBegins) {
		j.record(Entry{Kind: CommandBegins, Ctx: c, Args: args, Cause: j.cause()})
	}
}

// ends notes that a command ends. There is a reader.
func (j *journal) ends(c *command.Ctx, args resp.Args, reply *resp.Reply) {
	if j.wanted.has(CommandEnds) {
		j.record(Entry{Kind: CommandEnds, Ctx: c, Args: args, Reply: *reply, Cause: j.cause()})
	}
	last := len(j.causes) - 1
	j.causes[last].Args = nil // they keep the client's buffer in memory
	j.causes = j.causes[:last]
}

// runs notes that a script or a function begins. There is a reader.
func (j *journal) runs(s Script) {
	s.Run = j.script.Run + 1
	j.script = s
}

// ran notes that it ends. It forgets the arguments, which keep the client's buffer in memory.
func (j *journal) ran() { j.script.Keys, j.script.Args = nil, nil }

// because sets the reason of changes until the function that it returns is called.
func (j *journal) because(reason Reason) (end func()) {
	before := j.reason
	j.reason = reason
	return func() { j.reason = before }
}

// cause returns the cause of changes now.
func (j *journal) cause() *Cause {
	cause := &j.causes[len(j.causes)-1]
	cause.Reason, cause.Script = j.reason, nil
	if cause.Ctx == nil {
		return cause
	}
	cause.Reason = max(j.reason, ByCommand)
	if cause.Ctx.From == command.FromScript {
		cause.Script = &j.script
	}
	return cause
}

func (j *journal) key(kind Kind, db int, key string) {
	if j.wanted.has(kind) {
		j.fact(kind, db, key, j.cause())
	}
}

// keyBecause is key for another reason than the running command's.
func (j *journal) keyBecause(reason Reason, kind Kind, db int, key string) {
	if j.wanted.has(kind) {
		j.other = *j.cause()
		j.other.Reason = reason
		j.fact(kind, db, key, &j.other)
	}
}

func (j *journal) missed(db int, name []byte) {
	if j.wanted.has(KeyMissed) {
		j.entry.Name = name
		j.fact(KeyMissed, db, "", j.cause())
		j.entry.Name = nil
	}
}

func (j *journal) fieldsExpired(kind Kind, db int, key string, fields []string) {
	if j.wanted.has(kind) {
		j.entry.Fields = fields
		j.fact(kind, db, key, j.cause())
		j.entry.Fields = nil
	}
}

func (j *journal) swapped(db, other int) {
	if j.wanted.has(Swapped) {
		j.record(Entry{Kind: Swapped, DB: db, Other: other, Cause: j.cause()})
	}
}

func (j *journal) changed(ch *command.Change) {
	if j.wanted.has(Changed) {
		j.entry.Change = ch
		j.fact(Changed, ch.DB, ch.Key, j.cause())
		j.entry.Change = nil
	}
}

// fact passes an entry about a key to its readers.
func (j *journal) fact(kind Kind, db int, key string, cause *Cause) {
	e := &j.entry
	e.Kind, e.DB, e.Key, e.Cause = kind, db, key, cause
	j.pass()
	e.Key, e.Cause = "", nil
}

// record passes an entry of another kind to its readers.
func (j *journal) record(entry Entry) {
	j.entry = entry
	j.pass()
	j.entry = Entry{}
}

func (j *journal) pass() {
	if len(j.readers) == 1 {
		j.readers[0].read(&j.entry)
		return
	}
	for i := range j.readers {
		if r := &j.readers[i]; r.wanted.has(j.entry.Kind) {
			r.read(&j.entry)
		}
	}
}
