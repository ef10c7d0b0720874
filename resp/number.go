package resp

// ParseInt reads a decimal integer as strictly as Redis does (util.c, string2ll).
// It allows a minus sign, but no plus sign, no leading zeros, no spaces, nothing
// after the digits and no overflow of 64 bits. If ok is false, n is 0.
func ParseInt(b []byte) (n int64, ok bool) {
	if len(b) == 0 || len(b) > 20 {
		return 0, false
	}
	if len(b) == 1 && b[0] == '0' {
		return 0, true
	}
	negative := b[0] == '-'
	digits := b
	if negative {
		digits = b[1:]
	}
	if len(digits) == 0 || digits[0] < '1' || digits[0] > '9' {
		return 0, false
	}
	var v uint64
	const safe = 19 // digits that fit into 64 bits
	for i, c := range digits {
		d := uint64(c - '0')
		if d > 9 || i >= safe && v > (1<<64-1-d)/10 {
			return 0, false
		}
		v = v*10 + d
	}
	if negative {
		if v > 1<<63 {
			return 0, false
		}
		return -int64(v), true
	}
	if v > 1<<63-1 {
		return 0, false
	}
	return int64(v), true
}
