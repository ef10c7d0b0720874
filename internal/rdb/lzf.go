package rdb

import "math"

// This file compresses and decompresses strings as LZF does.
//
// Compressed data is a sequence of chunks. A byte below 32 says that so many bytes plus
// one follow as they are. Any other byte begins a reference to earlier output: its upper
// three bits are the length minus 2, where 7 means that a further byte is added. The lower
// five bits and the next byte are the distance minus 1.

const (
	lzfHashBits = 16
	lzfMaxRun   = 32      // bytes in a chunk without a reference
	lzfMaxBack  = 1 << 13 // the largest distance of a reference
	lzfMaxMatch = 1<<8 + 1<<3
	// lzfMaxRatio is the most output that a byte of compressed data stands for: three
	// bytes stand for lzfMaxMatch bytes.
	lzfMaxRatio = lzfMaxMatch / 3
)

// compressor finds repetitions by a hash of three bytes. It finds the same ones as
// redis-server, so that payloads are equal byte for byte.
type compressor struct {
	// slots has the latest position of each hash, plus base. A smaller number was left
	// by an earlier call and counts as empty.
	slots []uint32
	base  uint32
}

// begin empties the slots for an input of n bytes. n is below 1<<32.
func (c *compressor) begin(n int) {
	if c.slots == nil {
		c.slots = make([]uint32, 1<<lzfHashBits)
	}
	if uint64(c.base)+uint64(n) > math.MaxUint32 {
		clear(c.slots)
		c.base = 0
	}
}

// lzfSlot returns the slot of the three bytes in the low bits of hash.
func lzfSlot(hash uint32) uint32 {
	return (hash>>(3*8-lzfHashBits) - hash*5) & (1<<lzfHashBits - 1)
}

// lzfOutput collects compressed data .
type lzfOutput struct {
	b   []byte
	run int // bytes in the open chunk without a reference
}

// open begins a chunk. Its first byte is set by end.
func (o *lzfOutput) open() {
	o.run = 0
	o.b = append(o.b, 0)
}

// end ends the open chunk, and removes it when it is empty.
func (o *lzfOutput) end() {
	if o.run == 0 {
		o.b = o.b[:len(o.b)-1]
		return
	}
	o.b[len(o.b)-o.run-1] = byte(o.run - 1)
}

// literal adds a byte as it is.
func (o *lzfOutput) literal(c byte) {
	o.b = append(o.b, c)
	o.run++
	if o.run == lzfMaxRun {
		o.end()
		o.open()
	}
}

// compress appends the compressed form of in to dst. ok is false if it would take more
// than limit bytes. in has at least 4 bytes.
func (c *compressor) compress(dst, in []byte, limit int) (out []byte, ok bool) {
	c.begin(len(in))
	defer func() { c.base += uint32(len(in)) }()
	start := len(dst)
	o := lzfOutput{b: dst}
	size := func() int { return len(o.b) - start }
	o.open()
	ip, end := 0, len(in)
	hash := uint32(in[0])<<8 | uint32(in[1])
	for ip < end-2 {
		hash = hash<<8 | uint32(in[ip+2])
		ref, found := c.find(in, ip, hash)
		if !found {
			if size() >= limit {
				return dst, false
			}
			o.literal(in[ip])
			ip++
			continue
		}
		most := min(end-ip-2, lzfMaxMatch)
		empty := 0
		if o.run == 0 {
			empty = 1
		}
		if size()-empty+3+1 >= limit {
			return dst, false
		}
		n := lzfMatch(in, ref, ip, most)
		o.end()
		o.reference(ip-ref-1, n-2)
		o.open()
		ip += n
		if ip >= end-2 {
			break
		}
		c.note(in, ip-2)
		hash = c.note(in, ip-1)
	}
	if size()+3 > limit {
		return dst, false
	}
	for ; ip < end; ip++ {
		o.literal(in[ip])
	}
	o.end()
	return o.b, true
}

// find returns the latest earlier position with the three bytes at ip, and notes ip as
// the latest one. hash has these bytes.
func (c *compressor) find(in []byte, ip int, hash uint32) (ref int, found bool) {
	slot := lzfSlot(hash)
	at := c.slots[slot]
	c.slots[slot] = c.base + uint32(ip)
	if at <= c.base { // position 0 is never used, as in LZF
		return 0, false
	}
	ref = int(at - c.base)
	return ref, ip-ref-1 < lzfMaxBack &&
		in[ref] == in[ip] && in[ref+1] == in[ip+1] && in[ref+2] == in[ip+2]
}

// note records position at and returns the hash for the next one.
func (c *compressor) note(in []byte, at int) uint32 {
	hash := uint32(in[at])<<16 | uint32(in[at+1])<<8 | uint32(in[at+2])
	c.slots[lzfSlot(hash)] = c.base + uint32(at)
	return hash
}

// lzfMatch returns the length of the match of ref and ip, of which the first three bytes
// are known to be equal. It is at most most, but as in LZF a match up to the 19th byte
// does not regard most if most is above 16.
func lzfMatch(in []byte, ref, ip, most int) int {
	const unchecked = 19
	n := 3
	if most > 16 {
		for ; n < unchecked; n++ {
			if in[ref+n] != in[ip+n] {
				return n
			}
		}
	}
	for n < most && in[ref+n] == in[ip+n] {
		n++
	}
	return n
}

// reference adds a reference to distance+1 bytes back, of length+2 bytes.
func (o *lzfOutput) reference(distance, length int) {
	if length < 7 {
		o.b = append(o.b, byte(distance>>8+length<<5))
	} else {
		o.b = append(o.b, byte(distance>>8+7<<5), byte(length-7))
	}
	o.b = append(o.b, byte(distance))
}

// decompress returns the n bytes that in stands for. ok is false if in is corrupt or
// stands for another number of bytes.
func decompress(in []byte, n uint64) (out []byte, ok bool) {
	if n > uint64(len(in))*lzfMaxRatio {
		return nil, false
	}
	out = make([]byte, 0, n)
	for i := 0; i < len(in); {
		head := int(in[i])
		i++
		if head < lzfMaxRun {
			head++
			if i+head > len(in) || len(out)+head > cap(out) {
				return nil, false
			}
			out = append(out, in[i:i+head]...)
			i += head
			continue
		}
		length := head >> 5
		if length == 7 {
			if i >= len(in) {
				return nil, false
			}
			length += int(in[i])
			i++
		}
		if i >= len(in) {
			return nil, false
		}
		from := len(out) - (head&0x1f)<<8 - int(in[i]) - 1
		i++
		length += 2
		if from < 0 || uint64(len(out)+length) > n {
			return nil, false
		}
		for range length { // byte by byte: the reference may overlap its own output
			out = append(out, out[from])
			from++
		}
	}
	return out, uint64(len(out)) == n
}
