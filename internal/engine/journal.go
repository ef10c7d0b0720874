package engine

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
)

// The journal is the one place that sees everything inside the engine: the bounds of
// each unit, each command with its reply, and each effect on a key, expiry included. The
// inspector reads it, and telling, which has the changes for replication.
//
// By default it has no readers. Then each entry costs a comparison.

// Kind is the kind of an Entry.
type Kind uint8

// The kinds of entries, with the fields of Entry that they set.
const (
	// UnitBegins and UnitEnds enclose all entries of one unit. A unit that runs at
	// a safe point of a script is enclosed in the script's unit; it changes nothing.
	UnitBegins Kind = iota
	UnitEnds
	// CommandBegins and CommandEnds enclose the effects of a command: Ctx, Args, and
	// at the end Reply. The entries of a script or an EXEC enclose the entries of its
	// commands.
	CommandBegins
	CommandEnds
	// Changed: a command says that it has changed a key, see Change.
	Changed
	// KeyAdded: the key was created, or a command put a new value in its place (RENAME,
	// COPY).
	KeyAdded
	// KeyExpired: the key was deleted because its deadline had come.
	KeyExpired
	// FieldsExpired: fields of the key's hash were deleted because their deadlines had come. If
	// they were its last ones, KeyExpired follows.
	FieldsExpired
	// KeyLoaded: the key was read from an RDB file.
	KeyLoaded
	// KeyEvicted: the key was deleted because maxmemory was exceeded.
	KeyEvicted
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
	Other int
	// Change is what a command has said, in Changed. Then DB and Key are Change's.
	Change *command.Change
}

// journal passes entries to its readers.
type journal struct {
	readers []func(*Entry)
	entry   Entry // the current entry; kept here so that an entry allocates nothing
}

// ReadJournal adds a reader. It is called before Start. The reader runs inside the
// engine and must not run commands.
func (e *Engine) ReadJournal(read func(*Entry)) {
	e.journal.readers = append(e.journal.readers, read)
	e.attend()
}

// isRead reports whether there is a reader. Callers of record ask first, so that an entry
// is made only for a reader.
func (j *journal) isRead() bool { return len(j.readers) > 0 }

func (j *journal) unit(kind Kind) {
	if j.isRead() {
		j.record(kind, Entry{})
	}
}

func (j *journal) key(kind Kind, db int, key string) {
	if j.isRead() {
		j.record(kind, Entry{DB: db, Key: key})
	}
}

func (j *journal) changed(ch *command.Change) {
	if j.isRead() {
		j.record(Changed, Entry{DB: ch.DB, Key: ch.Key, Change: ch})
	}
}

func (j *journal) record(kind Kind, entry Entry) {
	j.entry = entry
	j.entry.Kind = kind
	for _, read := range j.readers {
		read(&j.entry)
	}
	j.entry = Entry{}
}
