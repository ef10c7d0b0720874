package rdb

import (
	"encoding/binary"
	"math"

	"github.com/lockredis/lockredis/store"
)

// Decode returns the value in b: its type and its body. lim decides about its encoding.
// As in Redis, bytes after the value do not count. The value does not alias b.
func Decode(b []byte, lim *store.Limits) (store.Value, error) {
	d := &decoder{input: &buffer{b}, lim: lim}
	kind := d.byte()
	v := d.value(kind)
	if d.err != nil {
		return nil, d.err
	}
	return v, nil
}

// input is the bytes that a decoder reads.
type input interface {
	// take returns the next n bytes, which are not changed later. n is at most left().
	take(n int) ([]byte, error)
	// left returns how many bytes there are at most.
	left() uint64
}

// buffer is an input in memory.
type buffer struct{ b []byte }

func (b *buffer) take(n int) ([]byte, error) {
	taken := b.b[:n:n]
	b.b = b.b[n:]
	return taken, nil
}

func (b *buffer) left() uint64 { return uint64(len(b.b)) }

// decoder reads values. After an error it returns zeros, and err keeps the first error.
type decoder struct {
	input
	lim *store.Limits
	err error
	// noFieldDeadlines refuses hashes whose fields have deadlines.
	noFieldDeadlines bool
}

func (d *decoder) fail(err error) {
	if d.err == nil {
		d.err = err
	}
}

// bytes returns the next n bytes, nil after an error.
func (d *decoder) bytes(n uint64) []byte {
	if d.err != nil {
		return nil
	}
	if left := d.left(); n > left || n > math.MaxInt {
		d.fail(corrupt("%d bytes are needed and %d are left", n, left))
		return nil
	}
	b, err := d.take(int(n))
	if err != nil {
		d.fail(err)
		return nil
	}
	return b
}

func (d *decoder) byte() byte {
	if b := d.bytes(1); b != nil {
		return b[0]
	}
	return 0
}

// head reads a length, or with encoded the encoding of a string.
func (d *decoder) head() (n uint64, encoded bool) {
	c := d.byte()
	switch {
	case c < length14:
		return uint64(c), false
	case c < length32:
		return uint64(c&0x3f)<<8 | uint64(d.byte()), false
	case c == length32:
		if b := d.bytes(4); b != nil {
			return uint64(binary.BigEndian.Uint32(b)), false
		}
	case c == length64:
		if b := d.bytes(8); b != nil {
			return binary.BigEndian.Uint64(b), false
		}
	case c >= encodedString:
		return uint64(c &^ encodedString), true
	default:
		d.fail(corrupt("length with the first byte %#x", c))
	}
	return 0, false
}

// length reads a length. As in Redis, an encoding in its place is the length that its six bits
// are.
func (d *decoder) length() uint64 {
	n, _ := d.head()
	return n
}

// count reads how many elements follow, each of at least size bytes. 0 is ErrEmpty.
func (d *decoder) count(size uint64) int {
	n := d.length()
	switch {
	case d.err != nil:
	case n == 0:
		d.fail(ErrEmpty)
	case n > d.left()/size:
		d.fail(corrupt("%d elements in %d bytes", n, d.left()))
	default:
		return int(n)
	}
	return 0
}

// string reads a string. It may alias the input.
func (d *decoder) string() []byte {
	n, encoded := d.head()
	if !encoded {
		return d.bytes(n)
	}
	switch n {
	case encodedInt8:
		return d.decimal(1)
	case encodedInt16:
		return d.decimal(2)
	case encodedInt32:
		return d.decimal(4)
	case encodedLZF:
		packed, size := d.length(), d.length()
		in := d.bytes(packed)
		if d.err != nil {
			return nil
		}
		out, ok := decompress(in, size)
		if !ok {
			d.fail(corrupt("compressed string of %d bytes", size))
		}
		return out
	}
	d.fail(corrupt("string with encoding %d", n))
	return nil
}

// decimal reads an integer of width bytes and returns its decimal form.
func (d *decoder) decimal(width uint64) []byte {
	if b := d.bytes(width); b != nil {
		return decimal(integer(b))
	}
	return nil
}

// value reads a value of a type.
func (d *decoder) value(kind byte) store.Value {
	if d.err != nil {
		return nil
	}
	switch kind {
	case typeString:
		return store.ParseString(d.string())
	case typeList, typeListZip, typeListZips, typeListPacked:
		return d.list(kind)
	case typeSet, typeSetInts, typeSetPacked:
		return d.set(kind)
	case typeZSet, typeZSetText, typeZSetZip, typeZSetPacked:
		return d.zset(kind)
	case typeHash, typeHashZipmap, typeHashZip, typeHashPacked:
		return d.hash(kind)
	case typeHashTimes:
		return d.hashWithTimes()
	case typeModule, typeModuleOld:
		d.fail(unsupported("a value of a module"))
	case typeStream, typeStreamNewer, typeStreamActive:
		return d.stream(kind)
	default:
		d.fail(corrupt("type %d", kind))
	}
	return nil
}

// packed reads a string that is a listpack or a ziplist, and returns its elements. No
// element is ErrEmpty.
func (d *decoder) packed(read func([]byte) ([][]byte, error)) [][]byte {
	b := d.string()
	if d.err != nil {
		return nil
	}
	elems, err := read(b)
	if err == nil && len(elems) == 0 {
		err = ErrEmpty
	}
	if err != nil {
		d.fail(err)
	}
	return elems
}

// list reads a list. Its nodes keep their elements, however large the nodes are.
func (d *decoder) list(kind byte) store.Value {
	l := store.NewList(d.lim)
	switch kind {
	case typeList:
		for range d.count(1) {
			elem := d.string()
			if d.err != nil {
				return nil
			}
			l.PushBack(elem)
		}
	case typeListZip:
		for _, elem := range d.packed(readZiplist) {
			l.PushBack(elem)
		}
	default:
		for range d.count(1) {
			d.listNode(kind, l)
			if d.err != nil {
				return nil
			}
		}
		if d.err == nil && l.Len() == 0 {
			d.fail(ErrEmpty)
		}
	}
	return l
}

// listNode reads a node of a list. An empty node counts as none, as in Redis.
func (d *decoder) listNode(kind byte, l *store.List) {
	read := readZiplist
	if kind == typeListPacked {
		read = readListpack
		switch d.length() {
		case nodePacked:
		case nodePlain:
			elem := d.string()
			switch {
			case d.err != nil:
			case len(elem) == 0:
				d.fail(corrupt("plain node of a list: no element"))
			default:
				l.AppendPlainNode(elem)
			}
			return
		default:
			d.fail(corrupt("kind of a list's node"))
			return
		}
	}
	b := d.string()
	if d.err != nil {
		return
	}
	elems, err := read(b)
	if err != nil {
		d.fail(err)
		return
	}
	l.AppendNode(elems)
}

func (d *decoder) set(kind byte) store.Value {
	if kind == typeSetInts {
		b := d.string()
		if d.err != nil {
			return nil
		}
		ints, err := readIntset(b)
		if err == nil && len(ints) == 0 {
			err = ErrEmpty
		}
		if err != nil {
			d.fail(err)
			return nil
		}
		return store.NewIntSet(ints, d.lim)
	}
	s := &store.Set{}
	if kind == typeSetPacked {
		for _, member := range d.packed(readListpack) {
			if !s.Add(member, d.lim) {
				d.fail(corrupt("set with a member twice"))
			}
		}
		return s
	}
	for range d.count(1) {
		member := d.string()
		if d.err == nil && !s.Add(member, d.lim) {
			d.fail(corrupt("set with a member twice"))
		}
		if d.err != nil {
			return nil
		}
	}
	return s
}

// hashWithTimes reads a hash with deadlines of fields.
func (d *decoder) hashWithTimes() store.Value {
	h := &store.Hash{}
	for range d.count(2) {
		field, value := d.string(), d.string()
		at := d.millis()
		if d.err == nil && !h.Set(field, value, d.lim) {
			d.fail(corrupt("hash with a field twice"))
		}
		if d.err == nil && at < noFieldDeadline {
			d.fail(corrupt("field with deadline %d", at))
		}
		if d.err != nil {
			return nil
		}
		if at != noFieldDeadline && d.noFieldDeadlines {
			d.fail(unsupported("a hash whose fields have deadlines needs the directive 'emulate valkey-9.1'"))
			return nil
		}
		if at != noFieldDeadline {
			h.SetFieldDeadline(field, at)
		}
	}
	if h.Len() == 0 {
		d.fail(ErrEmpty)
		return nil
	}
	return h
}

func (d *decoder) hash(kind byte) store.Value {
	var pairs [][]byte
	lim := *d.lim
	switch kind {
	case typeHash:
		n := d.count(2)
		for range 2 * n {
			pairs = append(pairs, d.string())
			if d.err != nil {
				return nil
			}
		}
	case typeHashZipmap:
		pairs = d.packed(readZipmap)
	case typeHashZip:
		pairs = d.packed(readZiplist)
		lim.HashValue = math.MaxInt // Redis looks at the number of fields only
	case typeHashPacked:
		pairs = d.packed(readListpack)
		lim.HashValue = math.MaxInt
	}
	if d.err != nil {
		return nil
	}
	h, ok := store.BuildHash(pairs, &lim)
	if !ok {
		d.fail(corrupt("hash with a field without value, or twice"))
	}
	return h
}
