package bitmap

import (
	"bytes"
	"crypto/subtle"
	"encoding/binary"
	"math"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

var errBitopNot = resp.Error("ERR BITOP NOT must be called with a single source key.")

// bitOperation combines a source with result in place. Zeros follow a source that is shorter
// than the result.
type bitOperation func(result, source []byte)

// parseBitOperation parses AND, OR, XOR or NOT. For NOT, op sets result to the inverted source.
// It returns nil for any other word.
func parseBitOperation(arg []byte) (op bitOperation, not bool) {
	switch {
	case command.IsWord(arg, "and"):
		return andBits, false
	case command.IsWord(arg, "or"):
		return orBits, false
	case command.IsWord(arg, "xor"):
		return xorBits, false
	case command.IsWord(arg, "not"):
		return notBits, true
	}
	return nil, false
}

func bitop(c *command.Ctx, args resp.Args) resp.Reply {
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
	result := oldResult(c, args, longest)
	if not {
		if result == nil {
			result = make([]byte, longest)
		}
		result = result[:longest]
		combine(result, sources[0])
	} else {
		result = append(result, sources[0]...)
		result = append(result, make([]byte, longest-len(result))...)
	}
	for _, source := range sources[1:] {
		combine(result, source)
	}
	return c.PutResult(args[2], store.NewRaw(result), longest, command.StringClass, "set", 1)
}

// oldResult returns the memory of the destination's text for a result of n bytes, nil if it
// has none that fits or is a source. A large result then costs no allocation.
func oldResult(c *command.Ctx, args resp.Args, n int) []byte {
	for _, source := range args[3:] {
		if bytes.Equal(source, args[2]) {
			return nil
		}
	}
	e := c.DB.Peek(args[2]) // putResult counts the access
	if s, ok := command.As[*store.String](e); ok && s != nil {
		c.DB.Changing(e)
		return s.Reuse(n)
	}
	return nil
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

// notBits sets result to the inverted source, which has the same length.
func notBits(result, source []byte) {
	var ones [1024]byte
	for i := 0; i < len(ones); i += 8 {
		binary.LittleEndian.PutUint64(ones[i:], math.MaxUint64)
	}
	for len(source) > 0 {
		n := subtle.XORBytes(result, source, ones[:])
		result, source = result[n:], source[n:]
	}
}
