package replication

// backlog keeps the end of the stream in a ring. The bytes of a stream have numbers from 1. So a
// stream's offset is the number of its last byte.
type backlog struct {
	size int64  // of the ring when it is full
	ring []byte // grows up to size
	next int    // where the next byte goes when the ring is full
	end  int64  // the stream's offset behind the last byte
}

// newBacklog returns a backlog of size bytes for a stream that has reached an offset.
func newBacklog(size, offset int64) *backlog { return &backlog{size: size, end: offset} }

// kept returns how many bytes are kept.
func (b *backlog) kept() int64 { return int64(len(b.ring)) }

// first returns the number of the first byte that is kept.
func (b *backlog) first() int64 { return b.end - b.kept() + 1 }

// add appends bytes to the stream.
func (b *backlog) add(p []byte) {
	b.end += int64(len(p))
	if over := int64(len(p)) - b.size; over > 0 {
		p = p[over:]
	}
	room := min(b.size-b.kept(), int64(len(p)))
	b.ring, p = append(b.ring, p[:room]...), p[room:]
	for len(p) > 0 {
		n := copy(b.ring[b.next:], p)
		p = p[n:]
		b.next = (b.next + n) % len(b.ring)
	}
}

// from returns the bytes from a number on. ok is false if they are not all kept, or if a byte before
// that number is not there yet.
func (b *backlog) from(first int64) (parts [2][]byte, ok bool) {
	if first < b.first() || first > b.end+1 {
		return parts, false
	}
	skipped := int(first - b.first())
	older, newer := b.ring[b.next:], b.ring[:b.next]
	if skipped < len(older) {
		return [2][]byte{older[skipped:], newer}, true
	}
	return [2][]byte{newer[skipped-len(older):]}, true
}

// resize keeps as much as a ring of another size holds.
func (b *backlog) resize(size int64) {
	parts, _ := b.from(b.first())
	*b = *newBacklog(size, b.first()-1)
	b.add(parts[0])
	b.add(parts[1])
}
