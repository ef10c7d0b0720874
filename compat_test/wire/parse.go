package wire

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strconv"
)

const (
	// maxBulk is Redis's own default of proto-max-bulk-len, in bytes.
	maxBulk = 512 << 20
	// maxElems keeps a wrong count from using up the test's memory.
	maxElems = 64 << 20
)

// parser reads one reply and keeps the bytes that it read.
type parser struct {
	r   *bufio.Reader
	raw []byte
}

func (p *parser) value() (Value, error) {
	start := len(p.raw)
	line, err := p.line()
	if err != nil {
		return Value{}, err
	}
	v := Value{Kind: Kind(line[0])}
	rest := line[1:]
	switch v.Kind {
	case SimpleString, SimpleError, Integer, Double, Boolean, BigNumber:
		v.Str = bytes.Clone(rest)
	case Null:
		v.IsNil = true
		if len(rest) != 0 {
			err = fmt.Errorf("wire: text after a null: %s", Quote(rest))
		}
	case BulkString, BlobError, Verbatim:
		err = p.bulk(&v, rest)
	case Array, Set, Push, Map, Attribute:
		err = p.elems(&v, rest)
	default:
		err = fmt.Errorf("wire: unknown type of reply: %s", Quote(line))
	}
	if err != nil {
		return Value{}, err
	}
	v.Raw = bytes.Clone(p.raw[start:])
	return v, nil
}

// line reads up to the next CRLF and returns the text before it, which is never empty.
func (p *parser) line() ([]byte, error) {
	start := len(p.raw)
	for {
		part, err := p.r.ReadSlice('\n')
		p.raw = append(p.raw, part...)
		if err == bufio.ErrBufferFull {
			continue
		}
		if err != nil {
			return nil, err
		}
		break
	}
	line := p.raw[start:]
	if len(line) < 3 || line[len(line)-2] != '\r' {
		return nil, fmt.Errorf("wire: malformed line %s", Quote(line))
	}
	return line[:len(line)-2], nil
}

func (p *parser) bulk(v *Value, length []byte) error {
	n, err := strconv.Atoi(string(length))
	if err != nil || n < -1 || n > maxBulk {
		return fmt.Errorf("wire: length of a bulk: %s", Quote(length))
	}
	if n == -1 {
		v.IsNil = true
		return nil
	}
	start := len(p.raw)
	p.raw = append(p.raw, make([]byte, n+2)...)
	if got, err := io.ReadFull(p.r, p.raw[start:]); err != nil {
		p.raw = p.raw[:start+got]
		return err
	}
	if !bytes.HasSuffix(p.raw, []byte("\r\n")) {
		return fmt.Errorf("wire: no CRLF after a bulk of %d bytes", n)
	}
	v.Str = bytes.Clone(p.raw[start : start+n])
	return nil
}

func (p *parser) elems(v *Value, count []byte) error {
	n, err := strconv.Atoi(string(count))
	if err != nil || n < -1 || n > maxElems {
		return fmt.Errorf("wire: number of elements: %s", Quote(count))
	}
	if n == -1 {
		v.IsNil = true
		return nil
	}
	switch v.Kind {
	case Map:
		n *= 2
	case Attribute:
		n = n*2 + 1
	}
	v.Elems = make([]Value, 0, min(n, 1024))
	for range n {
		e, err := p.value()
		if err != nil {
			return err
		}
		v.Elems = append(v.Elems, e)
	}
	return nil
}
