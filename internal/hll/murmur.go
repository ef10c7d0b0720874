package hll

import "encoding/binary"

// murmur64A returns the hash of b by Austin Appleby's MurmurHash2 for 64 bits, variant A,
// which is in the public domain. Redis's registers depend on it.
func murmur64A(b []byte, seed uint64) uint64 {
	const multiplier, shift = 0xc6a4a7935bd1e995, 47
	hash := seed ^ uint64(len(b))*multiplier
	for ; len(b) >= 8; b = b[8:] {
		k := binary.LittleEndian.Uint64(b) * multiplier
		k = (k ^ k>>shift) * multiplier
		hash = (hash ^ k) * multiplier
	}
	if len(b) > 0 {
		var rest [8]byte
		copy(rest[:], b)
		hash = (hash ^ binary.LittleEndian.Uint64(rest[:])) * multiplier
	}
	hash = (hash ^ hash>>shift) * multiplier
	return hash ^ hash>>shift
}
