package bitmap

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

var (
	errBitOffset   = resp.Error("ERR bit offset is not an integer or out of range")
	errBitValue    = resp.Error("ERR bit is not an integer or out of range")
	errBitArgument = resp.Error("ERR The bit argument must be 1 or 0.")
)

// parseBitOffset parses the position of a bit. In "#3" the 3 counts fields of a width in
// bits; width 0 does not allow that form.
func parseBitOffset(c *command.Ctx, arg []byte, width int64) (offset int64, ok bool) {
	counted := width > 0 && len(arg) > 0 && arg[0] == '#'
	if counted {
		arg = arg[1:]
	}
	offset, ok = resp.ParseInt(arg)
	if counted {
		offset *= width // Redis multiplies without a check, too
	}
	return offset, ok && offset >= 0 && offset/8 < c.Config.ProtoMaxBulkLen.Load()
}

// growBits returns the entry of key and its text, which is raw and at least length bytes
// long. A missing key is created. changed reports whether the key is new or the text has
// grown. ok is false when the key holds another type.
func growBits(c *command.Ctx, key []byte, length int) (e *store.Entry, text []byte, changed, ok bool) {
	e = c.DB.LookupWrite(key)
	s, ok := command.As[*store.String](e)
	switch {
	case !ok:
		return nil, nil, false, false
	case s == nil:
		s = store.NewZeros(length)
		return c.DB.Add(key, s), s.Grow(length), true, true
	}
	before := s.Len()
	text = s.Grow(length)
	return e, text, len(text) != before, true
}

func setbit(c *command.Ctx, args resp.Args) resp.Reply {
	offset, ok := parseBitOffset(c, args[2], 0)
	if !ok {
		return errBitOffset
	}
	bit, ok := resp.ParseInt(args[3])
	if !ok || bit != 0 && bit != 1 {
		return errBitValue
	}
	e, text, changed, ok := growBits(c, args[1], int(offset/8)+1)
	if !ok {
		return resp.ErrWrongType
	}
	old := int64(readField(text, offset, 1))
	if changed || old != bit {
		writeField(text, offset, 1, uint64(bit))
		c.Change(e, command.StringClass, "setbit", 1)
	}
	return resp.Int(old)
}

func getbit(c *command.Ctx, args resp.Args) resp.Reply {
	offset, ok := parseBitOffset(c, args[2], 0)
	if !ok {
		return errBitOffset
	}
	text, ok := readBits(c, args[1])
	if !ok {
		return resp.ErrWrongType
	}
	return resp.Int(int64(readField(text, offset, 1)))
}

// readBits returns the text under key, nil if the key is missing. ok is false when the key
// holds another type.
func readBits(c *command.Ctx, key []byte) (text []byte, ok bool) {
	s, ok := command.As[*store.String](c.DB.Lookup(key))
	if s == nil {
		return nil, ok
	}
	return s.Bytes(nil), true
}

// bitRange is the range of BITCOUNT and BITPOS.
type bitRange struct {
	start, end int64 // inclusive; negative: from the end
	inBits     bool  // start and end count bits, not bytes
}

// parseBitUnit parses BIT or BYTE.
func parseBitUnit(arg []byte) (inBits, ok bool) {
	inBits = command.IsWord(arg, "bit")
	return inBits, inBits || command.IsWord(arg, "byte")
}

// bits converts r into the bits [from, to) of a text of length bytes. from is not less than
// to when the range is empty.
func (r *bitRange) bits(length int) (from, to int64) {
	total, unit := int64(length), int64(8)
	if r.inBits {
		total, unit = 8*total, 1
	}
	from, to = r.start, r.end
	if from < 0 {
		from = max(from+total, 0)
	}
	if to < 0 {
		to = max(to+total, 0)
	}
	to = min(to, total-1)
	if from > to {
		return 0, 0
	}
	return from * unit, (to + 1) * unit
}

func bitcount(c *command.Ctx, args resp.Args) resp.Reply {
	e := c.DB.Lookup(args[1])
	s, ok := command.As[*store.String](e)
	switch {
	case !ok:
		return resp.ErrWrongType
	case s == nil:
		return resp.Int(0) // the other arguments are not even parsed
	}
	r := bitRange{start: 0, end: -1}
	switch len(args) {
	case 2:
	case 4, 5:
		if r.start, r.end, ok = command.ParseRange(args[2], args[3]); !ok {
			return resp.ErrNotInt
		}
		if r.start < 0 && r.end < 0 && r.start > r.end {
			return resp.Int(0)
		}
		if len(args) == 5 {
			if r.inBits, ok = parseBitUnit(args[4]); !ok {
				return resp.ErrSyntax
			}
		}
	default:
		return resp.ErrSyntax
	}
	text := s.Bytes(nil)
	from, to := r.bits(len(text))
	return resp.Int(countBits(text, from, to))
}

func bitpos(c *command.Ctx, args resp.Args) resp.Reply {
	bit, ok := resp.ParseInt(args[2])
	switch {
	case !ok:
		return resp.ErrNotInt
	case bit != 0 && bit != 1:
		return errBitArgument
	}
	// A missing key is an endless row of zeros.
	s, reply := command.Reading[*store.String](c, args[1], resp.Int(-bit))
	if s == nil {
		return reply
	}
	r := bitRange{start: 0, end: -1}
	if failure := r.parseBitpos(args[3:]); failure.IsError() {
		return failure
	}
	text := s.Bytes(nil)
	from, to := r.bits(len(text))
	if from >= to {
		return resp.Int(-1)
	}
	at := findBit(text, from, to, bit == 1)
	if at == to {
		if bit == 0 && len(args) < 5 {
			return resp.Int(to) // zeros follow the text unless the command names its end
		}
		return resp.Int(-1)
	}
	return resp.Int(at)
}

// parseBitpos parses BITPOS's start, end and unit, in Redis's order.
func (r *bitRange) parseBitpos(args resp.Args) (failure resp.Reply) {
	var ok bool
	if len(args) > 3 {
		return resp.ErrSyntax
	}
	if len(args) > 0 {
		if r.start, ok = resp.ParseInt(args[0]); !ok {
			return resp.ErrNotInt
		}
	}
	if len(args) > 2 {
		if r.inBits, ok = parseBitUnit(args[2]); !ok {
			return resp.ErrSyntax
		}
	}
	if len(args) > 1 {
		if r.end, ok = resp.ParseInt(args[1]); !ok {
			return resp.ErrNotInt
		}
	}
	return resp.NoReply
}
