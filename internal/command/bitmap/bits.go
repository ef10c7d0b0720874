package bitmap

import (
	"encoding/binary"
	"math/bits"
)

// Bits of a text are counted from the highest bit of its first byte. The functions below
// take eight bytes at a time, so that long texts cost little.

// countBits returns how many of the bits [from, to) of text are 1.
func countBits(text []byte, from, to int64) (n int64) {
	if from >= to {
		return 0
	}
	first, last := from/8, (to-1)/8
	head, tail := edgeMasks(from, to)
	if first == last {
		return int64(bits.OnesCount8(text[first] & head & tail))
	}
	n = int64(bits.OnesCount8(text[first]&head) + bits.OnesCount8(text[last]&tail))
	text = text[first+1 : last]
	for ; len(text) >= 32; text = text[32:] {
		n += int64(bits.OnesCount64(binary.LittleEndian.Uint64(text)) +
			bits.OnesCount64(binary.LittleEndian.Uint64(text[8:])) +
			bits.OnesCount64(binary.LittleEndian.Uint64(text[16:])) +
			bits.OnesCount64(binary.LittleEndian.Uint64(text[24:])))
	}
	for _, c := range text {
		n += int64(bits.OnesCount8(c))
	}
	return n
}

// edgeMasks returns the bits of the first and of the last byte that belong to the range
// [from, to).
func edgeMasks(from, to int64) (head, tail byte) {
	return 0xff >> (from % 8), 0xff << (7 - (to-1)%8)
}

// findBit returns the position of the first bit with a value in [from, to), to if there is
// none. The range is not empty.
func findBit(text []byte, from, to int64, value bool) int64 {
	flip := byte(0)
	if !value {
		flip = 0xff
	}
	at := from / 8
	head, _ := edgeMasks(from, to)
	if c := (text[at] ^ flip) & head; c != 0 {
		return min(8*at+int64(bits.LeadingZeros8(c)), to)
	}
	at++
	end := (to + 7) / 8
	at += skipBytes(text[at:end], flip)
	for ; at < end; at++ {
		if c := text[at] ^ flip; c != 0 {
			return min(8*at+int64(bits.LeadingZeros8(c)), to)
		}
	}
	return to
}

// skipBytes returns how many bytes at the beginning of text are equal to b. It may stop up to 31
// bytes early.
func skipBytes(text []byte, b byte) (n int64) {
	word := uint64(b) * 0x0101010101010101
	for ; len(text) >= 32; text = text[32:] {
		four := (*[32]byte)(text)
		differ := binary.LittleEndian.Uint64(four[:]) ^ word
		differ |= binary.LittleEndian.Uint64(four[8:]) ^ word
		differ |= binary.LittleEndian.Uint64(four[16:]) ^ word
		differ |= binary.LittleEndian.Uint64(four[24:]) ^ word
		if differ != 0 {
			break
		}
		n += 32
	}
	return n
}

// readField returns the width bits of text from bit at on, at most 64. Bits behind the end
// are 0.
func readField(text []byte, at int64, width uint) uint64 {
	window := fieldWindow(text, at)
	high, skip := binary.BigEndian.Uint64(window[:]), uint(at%8)
	return (high<<skip | uint64(window[8])>>(8-skip)) >> (64 - width)
}

// writeField writes the low bits of value as the width bits of text from bit at on, at most
// 64. The text is long enough for them.
func writeField(text []byte, at int64, width uint, value uint64) {
	window := fieldWindow(text, at)
	high, skip := binary.BigEndian.Uint64(window[:]), uint(at%8)
	mask := ^uint64(0) << (64 - width)
	value <<= 64 - width
	binary.BigEndian.PutUint64(window[:], high&^(mask>>skip)|value>>skip)
	window[8] = window[8]&^byte(mask<<(8-skip)) | byte(value<<(8-skip))
	copy(text[at/8:], window[:])
}

// fieldWindow returns the nine bytes of text from bit at on. They hold any field of 64 bits.
// Bytes behind the end are 0.
func fieldWindow(text []byte, at int64) (window [9]byte) {
	copy(window[:], text[min(at/8, int64(len(text))):])
	return window
}
