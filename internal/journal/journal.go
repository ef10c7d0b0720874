package journal

import (
	"slices"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
)

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
	// Fields is in FieldsExpired, and in KeyExpired if the key went with its last fields. It is nil
	// if no reader wants FieldsExpired.
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
}

// reader is a reader of the journal.
type reader struct {
	read   func(*Entry)
	wanted kinds
}

// kinds is a set of Kinds.
type kinds uint32

func (k kinds) has(kind Kind) bool { return k>>kind&1 != 0 }

// Journal passes entries to its readers. Its zero value has none. Its methods are called inside the
// engine.
type Journal struct {
	readers []*reader
	wanted  kinds   // that a reader wants
	entry   Entry   // the current entry; kept here so that an entry allocates nothing
	causes  []Cause // of the running commands, the outer ones first; causes[0] is of no command
	reason  Reason  // of changes outside of commands, and of the commands if it is not ByTimer
	script  Script  // the last run
	other   Cause   // see KeyBecause
}

// Read adds a reader of entries of these kinds; of all if none is given. The reader must not run
// commands. It reads until stop is called. A command that runs while one of them is called has no
// entry of its end.
func (j *Journal) Read(read func(*Entry), wanted ...Kind) (stop func()) {
	r := &reader{read: read}
	for _, kind := range wanted {
		r.wanted |= 1 << kind
	}
	if len(wanted) == 0 {
		r.wanted = ^kinds(0)
	}
	j.readers, j.wanted = append(j.readers, r), j.wanted|r.wanted
	if len(j.causes) == 0 {
		j.causes = append(j.causes, Cause{})
	}
	return func() { j.remove(r) }
}

func (j *Journal) remove(gone *reader) {
	j.readers = slices.DeleteFunc(j.readers, func(r *reader) bool { return r == gone })
	j.wanted = 0
	for _, r := range j.readers {
		j.wanted |= r.wanted
	}
	if j.wanted == 0 {
		j.causes = j.causes[:1] // the running commands say no more that they end
	}
}

// IsRead reports whether there is a reader.
func (j *Journal) IsRead() bool { return j.wanted != 0 }

// Wants reports whether a reader wants entries of a kind.
func (j *Journal) Wants(kind Kind) bool { return j.wanted.has(kind) }

// Unit records that a unit begins or ends.
func (j *Journal) Unit(kind Kind) {
	if j.wanted.has(kind) {
		j.record(Entry{Kind: kind})
	}
}

// Begins notes that a command begins. There is a reader.
func (j *Journal) Begins(c *command.Ctx, args resp.Args) {
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

// Ends notes that a command ends. There is a reader.
func (j *Journal) Ends(c *command.Ctx, args resp.Args, reply *resp.Reply) {
	last := len(j.causes) - 1
	if last == 0 {
		return // the first reader came while it ran
	}
	if j.wanted.has(CommandEnds) {
		j.record(Entry{Kind: CommandEnds, Ctx: c, Args: args, Reply: *reply, Cause: j.cause()})
	}
	j.causes[last].Args = nil // they keep the client's buffer in memory
	j.causes = j.causes[:last]
}

// Runs notes that a script or a function begins. There is a reader.
func (j *Journal) Runs(s Script) { j.script = s }

// Ran notes that it ends. It forgets the arguments, which keep the client's buffer in memory.
func (j *Journal) Ran() { j.script = Script{} }

// Because sets the reason of changes until the function that it returns is called.
func (j *Journal) Because(reason Reason) (end func()) {
	before := j.reason
	j.reason = reason
	return func() { j.reason = before }
}

// cause returns the cause of changes now.
func (j *Journal) cause() *Cause {
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

// Key records an entry about a key.
func (j *Journal) Key(kind Kind, db int, key string) {
	if j.wanted.has(kind) {
		j.fact(kind, db, key, j.cause())
	}
}

// KeyBecause is Key for another reason than the running command's.
func (j *Journal) KeyBecause(reason Reason, kind Kind, db int, key string) {
	if j.wanted.has(kind) {
		j.other = *j.cause()
		j.other.Reason = reason
		j.fact(kind, db, key, &j.other)
	}
}

// Missed records that a command that reads found no key.
func (j *Journal) Missed(db int, name []byte) {
	if j.wanted.has(KeyMissed) {
		j.entry.Name = name
		j.fact(KeyMissed, db, "", j.cause())
		j.entry.Name = nil
	}
}

// FieldsExpired records that fields of a hash were deleted; gone: the key with them.
func (j *Journal) FieldsExpired(db int, key string, fields []string, gone bool) {
	j.entry.Fields = fields
	j.Key(FieldsExpired, db, key)
	if gone {
		j.Key(KeyExpired, db, key)
	}
	j.entry.Fields = nil
}

// Swapped records that two databases have exchanged their numbers.
func (j *Journal) Swapped(db, other int) {
	if j.wanted.has(Swapped) {
		j.record(Entry{Kind: Swapped, DB: db, Other: other, Cause: j.cause()})
	}
}

// Changed records what a command says of a key.
func (j *Journal) Changed(ch *command.Change) {
	if j.wanted.has(Changed) {
		j.entry.Change = ch
		j.fact(Changed, ch.DB, ch.Key, j.cause())
		j.entry.Change = nil
	}
}

// fact passes an entry about a key to its readers.
func (j *Journal) fact(kind Kind, db int, key string, cause *Cause) {
	e := &j.entry
	e.Kind, e.DB, e.Key, e.Cause = kind, db, key, cause
	j.pass()
	e.Key, e.Cause = "", nil
}

// record passes an entry of another kind to its readers.
func (j *Journal) record(entry Entry) {
	j.entry = entry
	j.pass()
	j.entry = Entry{}
}

func (j *Journal) pass() {
	if len(j.readers) == 1 {
		j.readers[0].read(&j.entry)
		return
	}
	for _, r := range j.readers {
		if r.wanted.has(j.entry.Kind) {
			r.read(&j.entry)
		}
	}
}
