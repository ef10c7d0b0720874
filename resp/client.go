package resp

import (
	"bufio"
	"errors"
	"io"
	"strconv"
)

// The sizes of replies that a ReplyReader accepts.
const (
	maxReplyBulk  = 64 << 20 // bytes of a bulk string
	maxReplyElems = 1 << 20  // elements of an array
	maxReplyLine  = 64 << 10 // bytes of a status, an error or a length
	maxReplyDepth = 8        // arrays within arrays
)

// The errors of a ReplyReader. The connection must be closed after each of them.
var (
	errReplyKind  = errors.New("read reply: unknown type")
	errReplyNum   = errors.New("read reply: malformed number")
	errReplyLarge = errors.New("read reply: too large")
	errReplyLine  = errors.New("read reply: line without its end")
)

// ReplyReader reads RESP2 replies from a server that this process is a client of. One
// goroutine uses it.
type ReplyReader struct{ r *bufio.Reader }

// NewReplyReader returns a ReplyReader that reads from r.
func NewReplyReader(r io.Reader) *ReplyReader {
	return &ReplyReader{bufio.NewReaderSize(r, maxReplyLine)}
}

// Next returns the next reply. The reply shares no memory with the reader. Null replies are
// Nil and NilArray.
func (r *ReplyReader) Next() (Reply, error) { return r.next(0) }

func (r *ReplyReader) next(depth int) (Reply, error) {
	line, err := r.line()
	if err != nil {
		return Reply{}, err
	}
	if len(line) == 0 {
		return Reply{}, errReplyKind
	}
	text := line[1:]
	switch line[0] {
	case '+':
		return Status(string(text)), nil
	case '-':
		return Error(string(text)), nil
	}
	n, ok := ParseInt(text)
	if !ok {
		return Reply{}, errReplyNum
	}
	switch line[0] {
	case ':':
		return Int(n), nil
	case '$':
		return r.bulk(n)
	case '*':
		return r.array(n, depth)
	}
	return Reply{}, errReplyKind
}

// line returns the next line without its end. It is valid until the next read.
func (r *ReplyReader) line() ([]byte, error) {
	line, err := r.r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		err = errReplyLarge
	}
	if err != nil {
		return nil, err
	}
	if len(line) < 2 || line[len(line)-2] != '\r' {
		return nil, errReplyLine
	}
	return line[:len(line)-2], nil
}

func (r *ReplyReader) bulk(n int64) (Reply, error) {
	switch {
	case n == -1:
		return Nil, nil
	case n < 0:
		return Reply{}, errReplyNum
	case n > maxReplyBulk:
		return Reply{}, errReplyLarge
	}
	b := make([]byte, n+2)
	if _, err := io.ReadFull(r.r, b); err != nil {
		return Reply{}, err
	}
	return Bulk(b[:n]), nil
}

func (r *ReplyReader) array(n int64, depth int) (Reply, error) {
	switch {
	case n == -1:
		return NilArray, nil
	case n < 0:
		return Reply{}, errReplyNum
	case n > maxReplyElems || depth == maxReplyDepth:
		return Reply{}, errReplyLarge
	}
	var elems []Reply
	for range n {
		elem, err := r.next(depth + 1)
		if err != nil {
			return Reply{}, err
		}
		elems = append(elems, elem)
	}
	return Array(elems...), nil
}

// AppendCommand appends a command to dst, in the form that a client sends.
func AppendCommand[T string | []byte](dst []byte, words ...T) []byte {
	dst = append(dst, '*')
	dst = strconv.AppendInt(dst, int64(len(words)), 10)
	dst = append(dst, "\r\n"...)
	for _, w := range words {
		dst = append(dst, '$')
		dst = strconv.AppendInt(dst, int64(len(w)), 10)
		dst = append(dst, "\r\n"...)
		dst = append(dst, w...)
		dst = append(dst, "\r\n"...)
	}
	return dst
}
