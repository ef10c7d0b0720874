package command

import (
	"slices"

	"github.com/lockredis/lockredis/internal/heapsize"
)

// Transaction holds the commands that were queued since MULTI.
type Transaction struct {
	Queue [][][]byte // copies of the commands' arguments
	Cmds  []*Command
	Flags Flags // the flags of all queued commands together
	Bytes int64 // estimated, of the queue
	Dirty bool  // a command was refused: EXEC answers EXECABORT
	Cut   bool  // a command has ended its own client: the commands behind it get no replies
}

// Add queues a command of the given flags. The arguments are kept. It returns how many bytes that
// takes.
func (t *Transaction) Add(cmd *Command, f Flags, args [][]byte) (bytes int64) {
	const each = 48 // in Queue and Cmds, which append makes larger than they must be
	n := each + heapsize.Pointers[[]byte](len(args))
	for _, arg := range args {
		n += heapsize.Class(len(arg))
	}
	t.Bytes += int64(n)
	t.Queue = append(t.Queue, args)
	t.Cmds = append(t.Cmds, cmd)
	t.Flags |= f
	return int64(n)
}

// Loads reports whether all queued commands may run while a file is read. Without a transaction
// EXEC gets its usual error.
func (t *Transaction) Loads() bool {
	return t.each(Loading)
}

// Stale reports whether all queued commands may run at a replica without a link to its primary.
func (t *Transaction) Stale() bool { return t.each(Stale) }

// each reports whether all queued commands have a flag.
func (t *Transaction) each(f Flags) bool {
	return t == nil || !slices.ContainsFunc(t.Cmds, func(cmd *Command) bool { return !cmd.Has(f) })
}

// transaction returns what CLIENT LIST shows: the transaction that is open or runs, or nil.
func (s *Session) transaction() *Transaction {
	if s.Running != nil {
		return s.Running
	}
	return s.Multi
}

// WatchedKey is one key of WATCH.
type WatchedKey struct {
	DB  int
	Key string
	// Stale says that the key was missing and that SWAPDB has put an expired key in its place.
	// That is no change, and neither is its deletion.
	Stale bool
}

// MarkStale sets Stale of a watched key and returns its old value.
func (s *Session) MarkStale(db int, key string, stale bool) (was bool) {
	for i := range s.Watched {
		if w := &s.Watched[i]; w.DB == db && w.Key == key {
			was, w.Stale = w.Stale, stale
		}
	}
	return was
}

// EndTransaction drops the queued commands and the watched keys.
func EndTransaction(c *Ctx) {
	c.DropQueue(c.Session)
	c.Watcher.Unwatch(c.Session)
}

// DropQueue ends MULTI and forgets the queued commands.
func (env *Env) DropQueue(s *Session) {
	if s.Multi != nil {
		env.Queued -= s.Multi.Bytes
		s.Multi.Bytes = 0 // a fault may have kept the transaction for a late command
		s.Multi = nil
	}
}
