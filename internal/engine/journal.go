package engine

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
)

// The journal is the one place that sees all that happens inside the engine: the
// bounds of each unit, each command with its reply, and each effect on a key,
// expiry included. MONITOR, replication and inspection read it.
//
// Nobody reads it by default. Then each entry costs a comparison.

// Kind is what an Entry tells.
type Kind uint8

// The kinds of entries, with the fields of Entry that they set.
const (
	// UnitBegins and UnitEnds enclose all entries of one unit. A unit that runs at
	// a safe point of a script is enclosed in the script's unit; it changes nothing.
	UnitBegins Kind = iota
	UnitEnds
	// CommandBegins and CommandEnds enclose the effects of a command: Ctx, Args, and
	// at the end Reply. The commands of a script or an EXEC are inside of its own.
	// A served command has no Args.
	CommandBegins
	CommandEnds
	// KeyTouched: the key's value or deadline changed, or the key came or went.
	KeyTouched
	// KeyAdded: the key was created, or stands for a new one (RENAME, COPY).
	KeyAdded
	// KeyExpired: the key was deleted because its deadline had come.
	KeyExpired
	// Emptied: all keys of the database DB are about to go.
	Emptied
	// Swapped: the databases DB and Other have taken each other's number.
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
}

// journal gives its entries to the readers.
type journal struct {
	readers []func(*Entry)
	entry   Entry // used for one entry after the other
}

// ReadJournal adds a reader. It is called before Start. The reader runs inside the
// engine and must not run commands.
func (e *Engine) ReadJournal(read func(*Entry)) { e.journal.readers = append(e.journal.readers, read) }

// isRead reports whether there is a reader. Every call of record asks first: so an
// entry that nobody reads is never made.
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

func (j *journal) record(kind Kind, entry Entry) {
	j.entry = entry
	j.entry.Kind = kind
	for _, read := range j.readers {
		read(&j.entry)
	}
	j.entry = Entry{}
}
