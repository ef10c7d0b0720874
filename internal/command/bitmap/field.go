package bitmap

import (
	"math"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
)

var (
	errFieldType = resp.Error("ERR Invalid bitfield type. " +
		"Use something like i16 u8. Note that u64 is not supported but i64 is.")
	errFieldOverflow = resp.Error("ERR Invalid OVERFLOW type specified")
	errFieldReadOnly = resp.Error("ERR BITFIELD_RO only supports the GET subcommand")
)

// fieldType is the type of an integer in a bitmap: i1 to i64, u1 to u63.
type fieldType struct {
	signed bool
	width  uint // bits
}

// overflowPolicy says what BITFIELD does with a number that does not fit its type.
type overflowPolicy uint8

const (
	wrapAround overflowPolicy = iota
	saturate
	failOnOverflow
)

// fieldAction is a subcommand of BITFIELD.
type fieldAction uint8

const (
	fieldGet fieldAction = iota
	fieldSet
	fieldIncrement
)

// fieldOp is one subcommand of BITFIELD with its arguments.
type fieldOp struct {
	action fieldAction
	policy overflowPolicy
	typ    fieldType
	offset int64 // bits
	value  int64 // SET: the new value; INCRBY: the increment
}

func bitfield(c *command.Ctx, args resp.Args) resp.Reply { return runFields(c, args, false) }

func bitfieldRO(c *command.Ctx, args resp.Args) resp.Reply { return runFields(c, args, true) }

func runFields(c *command.Ctx, args resp.Args, readOnly bool) resp.Reply {
	ops, failure := parseFieldOps(c, args[2:])
	if failure.IsError() {
		return failure
	}
	end := int64(0) // the end of the field with the highest offset that is written, in bits
	for i := range ops {
		if op := &ops[i]; op.action != fieldGet {
			end = max(end, op.offset+int64(op.typ.width))
		}
	}
	replies := make([]resp.Reply, len(ops))
	if end == 0 {
		text, ok := readBits(c, args[1])
		if !ok {
			return resp.ErrWrongType
		}
		for i := range ops {
			replies[i] = resp.Int(ops[i].read(text))
		}
		return resp.Array(replies...)
	}
	if readOnly {
		return errFieldReadOnly
	}
	e, text, grown, ok := growBits(c, args[1], int((end+7)/8))
	if !ok {
		return resp.ErrWrongType
	}
	changes := int64(0)
	for i := range ops {
		old := ops[i].read(text)
		reply, stored := ops[i].run(text, old)
		replies[i] = reply
		if stored && (grown || old != ops[i].read(text)) {
			changes++
		}
	}
	switch {
	case changes > 0:
		c.Change(e, command.StringClass, "setbit", changes)
	case grown:
		c.Change(e, command.StringClass, "bitfield", 0)
	}
	return resp.Array(replies...)
}

// parseFieldOps parses the subcommands of BITFIELD, in Redis's order.
func parseFieldOps(c *command.Ctx, args resp.Args) (ops []fieldOp, failure resp.Reply) {
	policy := wrapAround
	for len(args) > 0 {
		op := fieldOp{policy: policy}
		switch {
		case command.IsWord(args[0], "get") && len(args) >= 3:
		case command.IsWord(args[0], "set") && len(args) >= 4:
			op.action = fieldSet
		case command.IsWord(args[0], "incrby") && len(args) >= 4:
			op.action = fieldIncrement
		case command.IsWord(args[0], "overflow") && len(args) >= 2:
			var ok bool
			if policy, ok = parseOverflow(args[1]); !ok {
				return nil, errFieldOverflow
			}
			args = args[2:]
			continue
		default:
			return nil, resp.ErrSyntax
		}
		var ok bool
		if op.typ, ok = parseFieldType(args[1]); !ok {
			return nil, errFieldType
		}
		if op.offset, ok = parseBitOffset(c, args[2], int64(op.typ.width)); !ok {
			return nil, errBitOffset
		}
		args, ops = args[3:], append(ops, op)
		if op.action == fieldGet {
			continue
		}
		if ops[len(ops)-1].value, ok = resp.ParseInt(args[0]); !ok {
			return nil, resp.ErrNotInt
		}
		args = args[1:]
	}
	return ops, resp.NoReply
}

func parseOverflow(arg []byte) (policy overflowPolicy, ok bool) {
	switch {
	case command.IsWord(arg, "wrap"):
		return wrapAround, true
	case command.IsWord(arg, "sat"):
		return saturate, true
	case command.IsWord(arg, "fail"):
		return failOnOverflow, true
	}
	return 0, false
}

// parseFieldType parses a type such as i16 or u8.
func parseFieldType(arg []byte) (t fieldType, ok bool) {
	arg = command.CText(arg)
	if len(arg) == 0 || arg[0] != 'i' && arg[0] != 'u' {
		return t, false
	}
	width, ok := resp.ParseInt(arg[1:])
	t.signed = arg[0] == 'i'
	if !ok || width < 1 || width > 64 || width == 64 && !t.signed {
		return t, false
	}
	t.width = uint(width)
	return t, true
}

// read returns the field. An unsigned one fits int64 too, because it has 63 bits at most.
func (op *fieldOp) read(text []byte) int64 {
	return op.typ.narrow(readField(text, op.offset, op.typ.width))
}

// narrow returns the low bits of v as a number of type t.
func (t fieldType) narrow(v uint64) int64 {
	v <<= 64 - t.width
	if t.signed {
		return int64(v) >> (64 - t.width)
	}
	return int64(v >> (64 - t.width))
}

// run runs the subcommand on a text that is long enough. old is the field's value. stored
// reports whether it has written the field.
func (op *fieldOp) run(text []byte, old int64) (reply resp.Reply, stored bool) {
	var n, excess int64
	switch op.action {
	case fieldGet:
		return resp.Int(old), false
	case fieldSet:
		n, excess = op.value, op.typ.excess(op.value)
		reply = resp.Int(old)
	case fieldIncrement:
		n, excess = op.typ.add(old, op.value)
	}
	if excess != 0 {
		switch op.policy {
		case failOnOverflow:
			return resp.Nil, false
		case saturate:
			n = op.typ.limit(excess)
		case wrapAround:
			n = op.typ.narrow(uint64(n))
		}
	}
	if op.action == fieldIncrement {
		reply = resp.Int(n)
	}
	writeField(text, op.offset, op.typ.width, uint64(n))
	return reply, true
}

// limit returns the greatest number of type t if excess is positive, else the least.
func (t fieldType) limit(excess int64) int64 {
	greatest := int64(uint64(math.MaxUint64) >> (64 - t.width))
	least := int64(0)
	if t.signed {
		greatest = math.MaxInt64 >> (64 - t.width)
		least = -greatest - 1
	}
	if excess > 0 {
		return greatest
	}
	return least
}

// excess returns 1 if v is too large for t, -1 if it is too small, and 0 if it fits.
//
// Redis takes a negative number for an unsigned one: it is too large. It also compares the
// distance to the greatest number. For a number far below a signed type that overflows, so
// that number is too large, too.
func (t fieldType) excess(v int64) int64 {
	greatest, least := t.limit(1), t.limit(-1)
	switch {
	case v > greatest, !t.signed && v < 0, t.width < 64 && v < greatest-math.MaxInt64:
		return 1
	case v < least:
		return -1
	}
	return 0
}

// add returns v + by, wrapped around in 64 bits, and the excess of the true sum. v fits t.
func (t fieldType) add(v, by int64) (sum, excess int64) {
	sum = v + by
	switch {
	case by > 0 && (command.AddOverflows(v, by) || sum > t.limit(1)):
		excess = 1
	case by < 0 && (command.AddOverflows(v, by) || sum < t.limit(-1)):
		excess = -1
	}
	return sum, excess
}
