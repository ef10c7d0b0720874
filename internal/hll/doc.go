// Package hll counts distinct elements approximately, in the format of Redis's HyperLogLog.
//
// A Sketch is the bytes of a string key: a header of 16 bytes and 16384 registers of 6 bits.
// The header has the magic HYLL, the encoding, three bytes that are not used, and the
// cardinality that was computed last, little endian. The highest bit of the header means
// that a register has changed since.
//
// The dense encoding has the registers one after the other, lowest bits first. The sparse
// encoding has runs of registers with equal values:
//
//	00nnnnnn           n+1 registers that are 0
//	01nnnnnn nnnnnnnn  n+1 registers that are 0
//	1vvvvvnn           n+1 registers that are v+1
//
// The same additions make the same bytes as in redis-server 7.0.15. A client may store any
// bytes, so every function takes corrupt runs: it returns false or ErrCorrupt.
//
// The package knows no keys and no replies. It is a part of the server.
package hll
