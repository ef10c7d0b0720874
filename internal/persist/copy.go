package persist

import (
	"slices"
	"strconv"
	"time"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/rdb"
)

// Copy is an RDB file of the data as they were when it began, in pieces: for a replica. It is used
// inside the engine.
type Copy struct {
	save   *save
	summed bool   // rdbchecksum when it began
	sum    uint64 // of the pieces, with rdbchecksum
	late   int64  // encoded keys whose delays are not over, see Delay
	seen   int64  // keys that late has counted
	whole  bool   // all keys are encoded
}

// Place says which data a file has: those at an offset of a stream of replication.
type Place struct {
	ID     string // of the stream; "": the data are of no stream
	Offset int64
	DB     int // that the stream is about behind the data, before the first SELECT
}

// KeyName is a key of a database.
type KeyName struct {
	DB   int
	Name []byte
}

// The names of the facts of a Place, as in Redis.
const (
	factStreamDB = "repl-stream-db"
	factID       = "repl-id"
	factOffset   = "repl-offset"
)

// appendPlace appends the facts of a place.
func (s *Files) appendPlace(dst []byte) []byte {
	p := s.Place()
	if p.ID == "" {
		return dst
	}
	dst = s.encoder.AppendFact(dst, factStreamDB, strconv.Itoa(p.DB))
	dst = s.encoder.AppendFact(dst, factID, p.ID)
	return s.encoder.AppendFact(dst, factOffset, strconv.FormatInt(p.Offset, 10))
}

// Loaded returns the place of the data of the file that was read at the start, and the keys that were
// left out, as their deadlines were over: the replicas that follow the stream may have them. The second
// call returns no keys.
func (s *Files) Loaded() (at Place, expired []KeyName) {
	expired, s.expired = s.expired, nil
	return s.loaded, expired
}

// Copy begins a copy of the present data, without some of their parts.
func (s *Files) Copy(without command.FileParts) *Copy {
	c := &Copy{save: s.begin(without), summed: s.env.Config.RDB.Checksum}
	s.copies = append(s.copies, c)
	if without.Data {
		c.End()
	}
	return c
}

// Next returns a piece of the file, and whether there are more. The piece is valid until the next
// call.
func (c *Copy) Next() (piece []byte, more bool) {
	if !c.owes() && !c.whole {
		c.whole = !c.save.step()
	}
	c.late, c.seen = c.late+c.save.keysDone-c.seen, c.save.keysDone // keys that commands change are encoded before
	switch more = !c.whole || c.owes(); {
	case !more:
		c.save.out = rdb.AppendEnd(c.save.out, c.sum, c.summed)
	case c.summed:
		c.sum = rdb.Checksum(c.sum, c.save.out)
	}
	piece, c.save.out = c.save.out, c.save.out[:0]
	return piece, more
}

// owes reports whether the caller has not waited for each encoded key.
func (c *Copy) owes() bool { return c.save.files.env.Config.RDB.SaveDelay > 0 && c.late > 0 }

// Delay returns how long the caller waits after a piece: rdb-key-save-delay for each key, with which a
// test makes the file of a replica slow. A negative delay of n µs is one of 1 µs for each n keys.
func (c *Copy) Delay() time.Duration {
	micros := c.save.files.env.Config.RDB.SaveDelay
	switch keys := c.late; {
	case c.owes():
		c.late--
		return time.Duration(micros) * time.Microsecond
	case micros < 0:
		c.late %= -micros
		return time.Duration(keys/-micros) * time.Microsecond
	}
	return 0
}

// End ends the copy. It may be called before all pieces were read, and twice.
func (c *Copy) End() {
	c.save.snapshot.End()
	s := c.save.files
	s.copies = slices.DeleteFunc(s.copies, func(other *Copy) bool { return other == c })
}
