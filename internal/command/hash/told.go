package hash

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

var (
	wordHpersist   = []byte("HPERSIST")
	wordHpexpireat = []byte("HPEXPIREAT")
	wordHset       = []byte("HSET")
	wordHsetex     = []byte("HSETEX")
	wordFields     = []byte("FIELDS")
)

func toldHincrby(c *command.Ctx, args resp.Args, reply resp.Reply) {
	if at := fieldDeadline(c, args); at != 0 {
		tellHsetex(c, args[1], at, false, args[2], command.Digits(reply.Int()))
		return
	}
	c.Tell(args...)
}

func toldHincrbyfloat(c *command.Ctx, args resp.Args, reply resp.Reply) {
	value := []byte(reply.Text())
	if at := fieldDeadline(c, args); at != 0 {
		tellHsetex(c, args[1], at, false, args[2], value)
		return
	}
	c.Tell(wordHset, args[1], args[2], value)
}

// fieldDeadline returns the deadline of the field args[2], 0 if it has none. HSET would remove it.
func fieldDeadline(c *command.Ctx, args resp.Args) int64 {
	v, _ := c.DB.Value(string(args[1]))
	h, ok := v.(*store.Hash)
	if !ok {
		return 0
	}
	return h.FieldDeadline(args[2])
}

// tellHsetex tells that fields were stored. at is their deadline, 0 if they have none; with keep
// they keep the deadlines that they had.
func tellHsetex(c *command.Ctx, key []byte, at int64, keep bool, pairs ...[]byte) {
	line := resp.Args{wordHsetex, key}
	switch {
	case at != 0:
		line = append(line, command.WordPxat, command.Digits(at))
	case keep:
		line = append(line, command.WordKeepttl)
	}
	line = append(line, wordFields, command.Digits(int64(len(pairs)/2)))
	c.Tell(append(line, pairs...)...)
}

// tellDeadline tells that fields have the deadline at, in Unix ms. conditions are the words of the
// command line behind the deadline, fields included. If at is past, the fields were deleted.
func (f *fieldChange) tellDeadline(at int64, conditions resp.Args) {
	switch {
	case f.deletes:
		f.Tell(append(resp.Args{command.WordHdel, f.key}, f.changed...)...)
	case f.expires:
		f.Tell(append(resp.Args{wordHpexpireat, f.key, command.Digits(at)}, conditions...)...)
	}
}

// tellPersisted tells that fields have no deadline any more.
func (f *fieldChange) tellPersisted() {
	if f.persists {
		f.Tell(append(resp.Args{wordHpersist, f.key}, f.fields()...)...)
	}
}

// fields returns the changed fields as the end of a command line.
func (f *fieldChange) fields() resp.Args {
	return append(resp.Args{wordFields, command.Digits(int64(len(f.changed)))}, f.changed...)
}
