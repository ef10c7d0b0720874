package cluster

import "bytes"

// Slots is the number of slots of every cluster.
const Slots = 1 << 14

// Slot returns the slot of a key or of a shard channel. If the key has a hash tag,
// which is a text in braces that is not empty, only the first one decides.
func Slot(key []byte) int { return int(crc16(tag(key)) % Slots) }

// tag returns the part of the key that decides its slot.
func tag(key []byte) []byte {
	open := bytes.IndexByte(key, '{')
	if open < 0 {
		return key
	}
	length := bytes.IndexByte(key[open+1:], '}')
	if length <= 0 {
		return key
	}
	return key[open+1 : open+1+length]
}

// crc16 is the checksum CRC-16/XMODEM: polynomial 0x1021, initial value 0.
func crc16(b []byte) uint16 {
	crc := uint16(0)
	for _, c := range b {
		crc = crc<<8 ^ crcTable[byte(crc>>8)^c]
	}
	return crc
}

// crcTable holds the checksum of each single byte.
var crcTable = func() (table [256]uint16) {
	for i := range table {
		crc := uint16(i) << 8
		for range 8 {
			carry := crc & 0x8000
			crc <<= 1
			if carry != 0 {
				crc ^= 0x1021
			}
		}
		table[i] = crc
	}
	return table
}()
