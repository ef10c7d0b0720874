package persist

import "github.com/lockredis/lockredis/internal/rdb"

// Copy is an RDB file of the data as they were when it began, in pieces: for a replica. It is used
// inside the engine.
type Copy struct {
	save *save
	sum  uint64 // of the pieces, with rdbchecksum
}

// Copy begins a copy of the present data.
func (s *Files) Copy() *Copy { return &Copy{save: s.begin()} }

// Next returns a piece of the file, and whether there are more. The piece is valid until the next
// call.
func (c *Copy) Next() (piece []byte, more bool) {
	summed := c.save.files.env.Config.RDB.Checksum
	switch more = c.save.step(); {
	case !more:
		c.save.out = rdb.AppendEnd(c.save.out, c.sum, summed)
	case summed:
		c.sum = rdb.Checksum(c.sum, c.save.out)
	}
	piece, c.save.out = c.save.out, c.save.out[:0]
	return piece, more
}

// End ends the copy. It may be called before all pieces were read, and twice.
func (c *Copy) End() { c.save.snapshot.End() }
