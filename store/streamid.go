package store

import (
	"cmp"
	"math"
	"strconv"
)

// StreamID is the id of a stream's entry: a time in Unix milliseconds, and a number among
// the entries of that millisecond. The zero StreamID is below the id of every entry.
type StreamID struct{ MS, Seq uint64 }

// MaxStreamID is the greatest id.
var MaxStreamID = StreamID{math.MaxUint64, math.MaxUint64}

// Compare returns -1, 0 or 1 if id is less than, equal to or greater than o.
func (id StreamID) Compare(o StreamID) int {
	if c := cmp.Compare(id.MS, o.MS); c != 0 {
		return c
	}
	return cmp.Compare(id.Seq, o.Seq)
}

// Less reports whether id comes before o.
func (id StreamID) Less(o StreamID) bool {
	return id.MS < o.MS || id.MS == o.MS && id.Seq < o.Seq
}

// IsZero reports whether id is 0-0.
func (id StreamID) IsZero() bool { return id == StreamID{} }

// Next returns the id after id. ok is false if id is the greatest.
func (id StreamID) Next() (next StreamID, ok bool) {
	switch {
	case id.Seq < math.MaxUint64:
		return StreamID{id.MS, id.Seq + 1}, true
	case id.MS < math.MaxUint64:
		return StreamID{id.MS + 1, 0}, true
	}
	return StreamID{}, false
}

// Prev returns the id before id. ok is false if id is 0-0.
func (id StreamID) Prev() (prev StreamID, ok bool) {
	switch {
	case id.Seq > 0:
		return StreamID{id.MS, id.Seq - 1}, true
	case id.MS > 0:
		return StreamID{id.MS - 1, math.MaxUint64}, true
	}
	return MaxStreamID, false
}

// Append appends the id as Redis writes it, 1526919030474-55, to b.
func (id StreamID) Append(b []byte) []byte {
	b = append(strconv.AppendUint(b, id.MS, 10), '-')
	return strconv.AppendUint(b, id.Seq, 10)
}

// String returns the id as Redis writes it: 1526919030474-55.
func (id StreamID) String() string {
	var b [41]byte
	return string(id.Append(b[:0]))
}
