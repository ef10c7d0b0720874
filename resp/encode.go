package resp

import (
	"math"
	"strconv"

	"github.com/tidwall/redcon"
)

// Append appends the reply's encoding in RESP version proto (2 or 3) to dst.
func Append(dst []byte, r Reply, proto int) []byte {
	switch r.kind {
	case None:
		return dst
	case KindInt:
		return redcon.AppendInt(dst, r.n)
	case KindStatus:
		return redcon.AppendString(dst, r.s)
	case KindError:
		return redcon.AppendError(dst, r.s)
	case KindBulk, KindBigNumber, KindVerbatim:
		return appendText(dst, r, proto)
	case KindNil, KindNilArray:
		return appendNil(dst, r.kind, proto)
	case KindBool:
		return appendBool(dst, r.n != 0, proto)
	case KindDouble:
		return appendDouble(dst, r, proto)
	case KindRaw:
		return append(dst, r.s...)
	}
	if r.kind != KindSequence {
		dst = appendHeader(dst, r.kind, len(r.elems), proto)
	}
	for i := range r.elems {
		dst = Append(dst, r.elems[i], proto)
	}
	return dst
}

// pieceBytes is the size at which AppendInPieces calls full, in bytes.
const pieceBytes = 1 << 20

// AppendInPieces is Append for a reply whose encoding may be far larger than the
// values that it points to (MGET k k k). Each time dst holds a megabyte or
// more it calls full(dst). full takes the bytes and returns an empty buffer to
// continue with. If full returns false, AppendInPieces stops and reports false.
// rest is the buffer with the bytes that full has not taken.
func AppendInPieces(
	dst []byte, r Reply, proto int, full func([]byte) ([]byte, bool),
) (rest []byte, ok bool) {
	if len(r.elems) == 0 {
		return Append(dst, r, proto), true
	}
	if r.kind != KindSequence {
		dst = appendHeader(dst, r.kind, len(r.elems), proto)
	}
	for i := range r.elems {
		if len(r.elems[i].elems) == 0 {
			dst = Append(dst, r.elems[i], proto)
		} else if dst, ok = AppendInPieces(dst, r.elems[i], proto, full); !ok {
			return dst, false
		}
		if len(dst) >= pieceBytes {
			if dst, ok = full(dst); !ok {
				return dst, false
			}
		}
	}
	return dst, true
}

// appendHeader writes the type byte and the count of an aggregate of n elements.
// For a map, n counts keys and values.
func appendHeader(dst []byte, k Kind, n, proto int) []byte {
	if proto < 3 || k == KindArray {
		return redcon.AppendArray(dst, n)
	}
	switch k {
	case KindMap:
		dst, n = append(dst, '%'), n/2
	case KindSet:
		dst = append(dst, '~')
	default:
		dst = append(dst, '>')
	}
	dst = strconv.AppendInt(dst, int64(n), 10)
	return append(dst, '\r', '\n')
}

func appendText(dst []byte, r Reply, proto int) []byte {
	switch {
	case r.digits:
		var room [20]byte // redcon.AppendBulkInt allocates
		return redcon.AppendBulk(dst, strconv.AppendInt(room[:0], r.n, 10))
	case proto < 3 || r.kind == KindBulk:
		return redcon.AppendBulkString(dst, r.s)
	case r.kind == KindBigNumber:
		dst = append(dst, '(')
		dst = append(dst, r.s...)
	default:
		dst = append(dst, '=')
		dst = strconv.AppendInt(dst, int64(len(r.s)+4), 10)
		dst = append(dst, '\r', '\n')
		dst = appendFormat(dst, r.n)
		dst = append(dst, r.s...)
	}
	return append(dst, '\r', '\n')
}

// appendFormat writes the format of a verbatim string. packed has its three bytes
// as VerbatimAs packs them; 0 means txt.
func appendFormat(dst []byte, packed int64) []byte {
	if packed == 0 {
		return append(dst, "txt:"...)
	}
	return append(dst, byte(packed>>16), byte(packed>>8), byte(packed), ':')
}

func appendNil(dst []byte, k Kind, proto int) []byte {
	switch {
	case proto >= 3:
		return append(dst, "_\r\n"...)
	case k == KindNilArray:
		return append(dst, "*-1\r\n"...)
	}
	return redcon.AppendNull(dst)
}

func appendBool(dst []byte, b bool, proto int) []byte {
	switch {
	case proto >= 3 && b:
		return append(dst, "#t\r\n"...)
	case proto >= 3:
		return append(dst, "#f\r\n"...)
	case b:
		return redcon.AppendInt(dst, 1)
	}
	return redcon.AppendInt(dst, 0)
}

// appendDouble writes a double in the form of Redis 7.0: %.17g, "inf" and "-inf", or the
// digits that DoubleText was given.
func appendDouble(dst []byte, r Reply, proto int) []byte {
	var buf [40]byte
	text := r.AppendDigits(buf[:0])
	if proto < 3 {
		return redcon.AppendBulk(dst, text)
	}
	dst = append(dst, ',')
	dst = append(dst, text...)
	return append(dst, '\r', '\n')
}

// AppendDigits appends the digits of a double reply as RESP2 has them.
func (r Reply) AppendDigits(dst []byte) []byte {
	if r.s != "" {
		return append(dst, r.s...)
	}
	return AppendFloat(dst, r.Double(), 17)
}

// AppendFloat appends f as C's %.<digits>g prints it: no trailing zeros, and inf,
// -inf and nan in lower case, without a plus sign.
func AppendFloat(dst []byte, f float64, digits int) []byte {
	switch {
	case math.IsInf(f, 1):
		return append(dst, "inf"...)
	case math.IsInf(f, -1):
		return append(dst, "-inf"...)
	case math.IsNaN(f):
		if math.Signbit(f) {
			return append(dst, "-nan"...)
		}
		return append(dst, "nan"...)
	}
	if f == math.Trunc(f) && math.Abs(f) < 1e14 && !(f == 0 && math.Signbit(f)) {
		return strconv.AppendInt(dst, int64(f), 10)
	}
	return strconv.AppendFloat(dst, f, 'g', digits, 64)
}
