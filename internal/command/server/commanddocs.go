package server

import (
	"bytes"
	"compress/flate"
	_ "embed"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/lockredis/lockredis/resp"
)

// packedDocs holds the documentation of the commands of Redis 7.0.15, as redis-server's own
// reply to COMMAND DOCS has it: for each command and subcommand its name and a map without
// the field subcommands, in RESP3, compressed with deflate. "make command-docs" writes the
// file. The texts are Redis's, see THIRD_PARTY_NOTICES.
//
//go:embed commanddocs.deflate
var packedDocs []byte

// redisDocs returns the encoded map of each command of Redis, by full name ("config|get").
// The first COMMAND DOCS of the process unpacks them. They never change.
var redisDocs = sync.OnceValue(func() map[string]string {
	text, err := io.ReadAll(flate.NewReader(bytes.NewReader(packedDocs)))
	if err != nil {
		panic("server: commanddocs.deflate: " + err.Error())
	}
	d := docsDecoder{rest: string(text)}
	all := make(map[string]string, 400)
	for d.rest != "" {
		name := d.next().Text()
		before := d.rest
		d.next()
		all[name] = before[:len(before)-len(d.rest)]
	}
	return all
})

// redisDoc returns the fields of a command's documentation, nil when Redis has no such
// command.
func redisDoc(name string) []resp.Reply {
	text, ok := redisDocs()[name]
	if !ok {
		return nil
	}
	d := docsDecoder{rest: text}
	return d.elements()
}

// docsDecoder decodes the types that COMMAND DOCS has. Its input is a part of the program,
// so it checks nothing.
type docsDecoder struct{ rest string }

// line returns the type byte and the text of the next line.
func (d *docsDecoder) line() (kind byte, text string) {
	line, rest, _ := strings.Cut(d.rest, "\r\n")
	d.rest = rest
	return line[0], line[1:]
}

// elements returns the elements of the next aggregate.
func (d *docsDecoder) elements() []resp.Reply {
	kind, count := d.line()
	n, _ := strconv.Atoi(count)
	if kind == '%' {
		n *= 2
	}
	elems := make([]resp.Reply, n)
	for i := range elems {
		elems[i] = d.next()
	}
	return elems
}

// next returns the next reply.
func (d *docsDecoder) next() resp.Reply {
	switch d.rest[0] {
	case '%':
		return resp.Map(d.elements()...)
	case '~':
		return resp.Set(d.elements()...)
	case '*':
		return resp.Array(d.elements()...)
	}
	kind, text := d.line()
	switch kind {
	case ':':
		n, _ := strconv.ParseInt(text, 10, 64)
		return resp.Int(n)
	case '+':
		return resp.Status(text)
	}
	n, _ := strconv.Atoi(text) // '$'
	text, d.rest = d.rest[:n], d.rest[n+2:]
	return resp.BulkString(text)
}
