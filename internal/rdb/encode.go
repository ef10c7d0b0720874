package rdb

import (
	"encoding/binary"
	"math"
	"strconv"

	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

// Encoder writes values. It reuses memory, so one goroutine at a time uses it. The zero
// Encoder is ready.
type Encoder struct {
	// Compress makes strings of more than 20 bytes shorter where LZF can
	// (rdbcompression).
	Compress bool
	// Valkey makes files and payloads as Valkey 9 does. Only they can have deadlines of
	// fields.
	Valkey bool

	lzf    compressor
	packed []byte // of the last compression
}

// minCompressed is the length of the shortest string that is worth a compression.
const minCompressed = 21

// typeOf returns the type byte of v's form.
func typeOf(v store.Value) byte {
	switch v := v.(type) {
	case *store.String:
		return typeString
	case *store.List:
		return typeListPacked
	case *store.Set:
		if _, small := v.Ints(); small {
			return typeSetInts
		}
		return typeSet
	case *store.ZSet:
		if v.Packed() {
			return typeZSetPacked
		}
		return typeZSet
	case *store.Hash:
		if v.Packed() {
			return typeHashPacked
		}
		if v.FieldDeadlines() > 0 {
			return typeHashTimes
		}
		return typeHash
	case *store.Stream:
		return typeStreamNewer
	}
	panic("rdb: no form for a value of type " + string(v.Type()))
}

// AppendValue appends v's type and v.
func (e *Encoder) AppendValue(dst []byte, v store.Value) []byte {
	return e.AppendBody(append(dst, typeOf(v)), v)
}

// AppendBody appends v without its type.
func (e *Encoder) AppendBody(dst []byte, v store.Value) []byte {
	switch v := v.(type) {
	case *store.String:
		var digits [20]byte
		return e.AppendString(dst, v.Bytes(digits[:]))
	case *store.List:
		return appendList(e, dst, v)
	case *store.Set:
		return appendSet(e, dst, v)
	case *store.ZSet:
		return appendZSet(e, dst, v)
	case *store.Hash:
		return appendHash(e, dst, v)
	case *store.Stream:
		return appendStream(e, dst, v)
	}
	panic("rdb: no form for a value of type " + string(v.Type()))
}

// noFieldDeadline stands for the deadline of a field that has none.
const noFieldDeadline = -1

// AppendLength appends the length n in one, two, five or nine bytes.
func AppendLength(dst []byte, n uint64) []byte {
	switch {
	case n < 1<<6:
		return append(dst, byte(n))
	case n < 1<<14:
		return append(dst, length14|byte(n>>8), byte(n))
	case n <= math.MaxUint32:
		return binary.BigEndian.AppendUint32(append(dst, length32), uint32(n))
	}
	return binary.BigEndian.AppendUint64(append(dst, length64), n)
}

// AppendString appends a string: as an integer if it is the decimal form of one that
// fits in 32 bits, compressed if that makes it shorter, else as it is.
func (e *Encoder) AppendString(dst, s []byte) []byte {
	if n, ok := resp.ParseInt(s); ok && n >= math.MinInt32 && n <= math.MaxInt32 {
		switch {
		case n >= math.MinInt8 && n <= math.MaxInt8:
			return append(dst, encodedString|encodedInt8, byte(n))
		case n >= math.MinInt16 && n <= math.MaxInt16:
			return binary.LittleEndian.AppendUint16(append(dst, encodedString|encodedInt16), uint16(n))
		}
		return binary.LittleEndian.AppendUint32(append(dst, encodedString|encodedInt32), uint32(n))
	}
	if e.Compress && len(s) >= minCompressed && uint64(len(s)) < math.MaxUint32 {
		packed, ok := e.lzf.compress(e.packed[:0], s, len(s)-4)
		e.packed = packed[:0]
		if ok {
			dst = AppendLength(append(dst, encodedString|encodedLZF), uint64(len(packed)))
			return append(AppendLength(dst, uint64(len(s))), packed...)
		}
	}
	return append(AppendLength(dst, uint64(len(s))), s...)
}

// appendList and its like are no methods: each package that names an Encoder would compile the
// collections again (Decisions in ARCHITECTURE.md).
func appendList(e *Encoder, dst []byte, l *store.List) []byte {
	dst = AppendLength(dst, uint64(l.Nodes()))
	l.EachNode(func(node store.Packed, plain bool) {
		if plain {
			dst = e.AppendString(AppendLength(dst, nodePlain), node.At(node.First()))
			return
		}
		dst = e.AppendString(AppendLength(dst, nodePacked), packNode(node))
	})
	return dst
}

func appendSet(e *Encoder, dst []byte, s *store.Set) []byte {
	if ints, small := s.Ints(); small {
		return e.AppendString(dst, appendIntset(ints))
	}
	dst = AppendLength(dst, uint64(s.Len()))
	s.Each(func(member []byte) bool {
		dst = e.AppendString(dst, member)
		return true
	})
	return dst
}

// appendZSet appends a sorted set. A large one has its last member first.
func appendZSet(e *Encoder, dst []byte, z *store.ZSet) []byte {
	if z.Packed() {
		pack := newListpack(32 * z.Len())
		var digits [40]byte
		z.Each(func(item store.ZItem) bool {
			pack.add(item.Bytes())
			pack.add(appendScore(digits[:0], item.Score))
			return true
		})
		return e.AppendString(dst, pack.bytes())
	}
	dst = AppendLength(dst, uint64(z.Len()))
	z.Walk(0, z.Len(), true, func(item store.ZItem) bool {
		dst = e.AppendString(dst, item.Bytes())
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(item.Score))
		return true
	})
	return dst
}

// appendScore appends a score of a small sorted set: without an exponent if it is an
// integer of up to 62 bits.
func appendScore(dst []byte, score float64) []byte {
	if math.Abs(score) <= 1<<62 && score == math.Trunc(score) {
		return strconv.AppendInt(dst, int64(score), 10)
	}
	return resp.AppendFloat(dst, score, 17)
}

func appendHash(e *Encoder, dst []byte, h *store.Hash) []byte {
	if h.Packed() {
		pack := newListpack(32 * h.Len())
		h.Each(func(field, value []byte) bool {
			pack.add(field)
			pack.add(value)
			return true
		})
		return e.AppendString(dst, pack.bytes())
	}
	dst = AppendLength(dst, uint64(h.Len()))
	times := h.FieldDeadlines() > 0
	h.Each(func(field, value []byte) bool {
		dst = e.AppendString(dst, field)
		dst = e.AppendString(dst, value)
		if times {
			at := h.FieldDeadline(field)
			if at == 0 {
				at = noFieldDeadline
			}
			dst = binary.LittleEndian.AppendUint64(dst, uint64(at))
		}
		return true
	})
	return dst
}
