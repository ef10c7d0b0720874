//lint:file-ignore ST1005 the texts are redis-cli's

package rediscli

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strconv"
)

// reply is a server's reply. kind is its first byte on the wire.
type reply struct {
	kind  byte
	text  []byte  // of a scalar, as the server wrote it
	null  bool    // a null of RESP2 or RESP3
	elems []reply // of a collection; a map's are key, value, key, value …
}

// failed reports whether r is an error.
func (r reply) failed() bool { return r.kind == '-' }

// maxDepth limits how deep collections are nested. Redis's replies stay far below.
const maxDepth = 128

// readReply reads one reply, of RESP2 or RESP3.
func readReply(in *bufio.Reader, depth int) (reply, error) {
	line, err := readLine(in)
	if err != nil {
		return reply{}, err
	}
	if len(line) == 0 || depth > maxDepth {
		return reply{}, fmt.Errorf("Protocol error, got %q as reply type byte", "\n")
	}
	r := reply{kind: line[0], text: line[1:]}
	switch r.kind {
	case '+', '-', ':', ',', '(', '#':
		return r, nil
	case '_':
		r.null = true
		return r, nil
	case '$', '=', '!':
		return readBulk(in, r)
	case '*', '~', '>', '%', '|':
		return readElems(in, r, depth)
	}
	return reply{}, fmt.Errorf("Protocol error, got %q as reply type byte", r.kind)
}

// readBulk reads the text of a bulk string, a verbatim string or a bulk error. r has
// the header.
func readBulk(in *bufio.Reader, r reply) (reply, error) {
	size, err := length(r)
	if err != nil || size < 0 {
		r.null = true
		return r, err
	}
	var text bytes.Buffer // grows with what arrives, not with what a header claims
	if _, err := io.CopyN(&text, in, size+2); err != nil {
		return r, err
	}
	r.text = text.Bytes()[:size]
	switch {
	case r.kind == '=' && size >= 4: // "txt:" comes before a verbatim string
		r.text = r.text[4:]
	case r.kind == '!':
		r.kind = '-'
	}
	return r, nil
}

// readElems reads the elements of a collection. r has the header. Attributes, which
// come before the reply that they belong to, are dropped.
func readElems(in *bufio.Reader, r reply, depth int) (reply, error) {
	count, err := length(r)
	if err != nil || count < 0 {
		r.null = true
		return r, err
	}
	if r.kind == '%' || r.kind == '|' {
		count *= 2
	}
	r.text = nil
	for ; count > 0; count-- {
		elem, err := readReply(in, depth+1)
		if err != nil {
			return r, err
		}
		r.elems = append(r.elems, elem)
	}
	if r.kind == '|' {
		return readReply(in, depth)
	}
	return r, nil
}

// length returns the number in a header.
func length(r reply) (int64, error) {
	n, err := strconv.ParseInt(string(r.text), 10, 32)
	if err != nil {
		return -1, fmt.Errorf("Protocol error, invalid length %q", r.text)
	}
	return n, nil
}

// readLine reads a line and cuts off its CR and LF.
func readLine(in *bufio.Reader) ([]byte, error) {
	line, err := in.ReadBytes('\n')
	if err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(line[:len(line)-1], []byte{'\r'}), nil
}
