package rdb

import "hash/crc64"

// jones is the table of the CRC-64 with Jones's polynomial, in Go's bit order.
var jones = crc64.MakeTable(0x95ac9329ac4bc9b5)

// checksum returns the CRC-64 of the bytes with the checksum crc, followed by p. The
// checksum of no bytes is 0. Go's variant inverts the bits before and after, Redis's
// does not.
func checksum(crc uint64, p []byte) uint64 { return ^crc64.Update(^crc, jones, p) }
