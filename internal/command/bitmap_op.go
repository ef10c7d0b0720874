package command

import (
	"crypto/subtle"
	"encoding/binary"

	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

var errBitopNot = resp.Error("ERR BITOP NOT must be called with a single source key.")

// bitOperation combines a source with result in place. Zeros follow a source that is shorter
// than the result.
type bitOperation func(result, source []byte)

// parseBitOperation parses AND, OR, XOR or NOT. It returns nil for any other word.
func parseBitOperation(arg []byte) (op bitOperation, not bool) {
	switch {
	case isWord(arg, "and"):
		return andBits, false
	case isWord(arg, "or"):
		return orBits, false
	case isWord(arg, "xor"):
		return xorBits, false
	case isWord(arg, "not"):
		return notBits, true
	}
	return nil, false
}

func bitop(c *Ctx, args resp.Args) resp.Reply {
	combine, not := parseBitOperation(args[1])
	switch {
	case combine == nil:
		return resp.ErrSyntax
	case not && len(args) != 4:
		return errBitopNot
	}
	sources := make([][]byte, len(args)-3)
	longest := 0
	for i, key := range args[3:] {
		text, ok := readBits(c, key)
		if !ok {
			return resp.ErrWrongType
		}
		sources[i] = text
		longest = max(longest, len(text))
	}
	result := make([]byte, longest)
	copy(result, sources[0])
	if not {
		combine(result, nil)
	}
	for _, source := range sources[1:] {
		combine(result, source)
	}
	return storeResult(c, args[2], store.NewRaw(result), longest, StringClass, "set")
}

func andBits(result, source []byte) {
	clear(result[len(source):])
	for len(source) >= 32 {
		to, from := (*[32]byte)(result), (*[32]byte)(source)
		for i := 0; i < 32; i += 8 {
			binary.LittleEndian.PutUint64(to[i:],
				binary.LittleEndian.Uint64(to[i:])&binary.LittleEndian.Uint64(from[i:]))
		}
		result, source = result[32:], source[32:]
	}
	for i, b := range source {
		result[i] &= b
	}
}

func orBits(result, source []byte) {
	for len(source) >= 32 {
		to, from := (*[32]byte)(result), (*[32]byte)(source)
		for i := 0; i < 32; i += 8 {
			binary.LittleEndian.PutUint64(to[i:],
				binary.LittleEndian.Uint64(to[i:])|binary.LittleEndian.Uint64(from[i:]))
		}
		result, source = result[32:], source[32:]
	}
	for i, b := range source {
		result[i] |= b
	}
}

func xorBits(result, source []byte) { subtle.XORBytes(result, result[:len(source)], source) }

// notBits inverts result. There is no source.
func notBits(result, _ []byte) {
	var ones [4096]byte
	for i := range ones {
		ones[i] = 0xff
	}
	for len(result) > 0 {
		n := min(len(result), len(ones))
		subtle.XORBytes(result, result[:n], ones[:n])
		result = result[n:]
	}
}
