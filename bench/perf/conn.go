//go:build linux

package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// conn is a plain RESP2 client for what is not measured.
type conn struct {
	net.Conn
	in *bufio.Reader
}

// controlPatience bounds each command of a conn.
const controlPatience = 30 * time.Second

func dial(addr string) (*conn, error) {
	c, err := net.DialTimeout("tcp", addr, 5*time.Second)
	if err != nil {
		return nil, err
	}
	return &conn{c, bufio.NewReader(c)}, nil
}

// do runs a command. A string, an int64, a nil or a []any comes back; an error
// reply is an error.
func (c *conn) do(args ...string) (any, error) {
	replies, err := c.pipeline([][]string{args})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", args[0], err)
	}
	return replies[0], nil
}

// pipeline sends all commands, then reads all replies. It is for batches whose
// replies fit into the sockets' buffers.
func (c *conn) pipeline(commands [][]string) ([]any, error) {
	if err := c.SetDeadline(time.Now().Add(controlPatience)); err != nil {
		return nil, err
	}
	var out []byte
	for _, args := range commands {
		out = appendCommand(out, args)
	}
	if _, err := c.Write(out); err != nil {
		return nil, err
	}
	replies := make([]any, len(commands))
	for i := range commands {
		reply, err := c.read()
		if err != nil {
			return nil, err
		}
		replies[i] = reply
	}
	return replies, nil
}

func appendCommand(b []byte, args []string) []byte {
	b = append(b, '*')
	b = strconv.AppendInt(b, int64(len(args)), 10)
	for _, a := range args {
		b = append(b, "\r\n$"...)
		b = strconv.AppendInt(b, int64(len(a)), 10)
		b = append(b, "\r\n"...)
		b = append(b, a...)
	}
	return append(b, "\r\n"...)
}

func (c *conn) read() (any, error) {
	line, err := c.in.ReadString('\n')
	if err != nil {
		return nil, err
	}
	line = strings.TrimSuffix(line, "\r\n")
	if line == "" {
		return nil, errors.New("an empty line for a reply")
	}
	switch kind, rest := line[0], line[1:]; kind {
	case '+':
		return rest, nil
	case '-':
		return nil, errors.New(rest)
	case ':':
		return strconv.ParseInt(rest, 10, 64)
	case '$':
		return c.readBulk(rest)
	case '*':
		return c.readArray(rest)
	}
	return nil, fmt.Errorf("a strange reply: %q", line)
}

func (c *conn) readBulk(length string) (any, error) {
	n, err := strconv.Atoi(length)
	if err != nil || n < 0 {
		return nil, err
	}
	b := make([]byte, n+2)
	_, err = io.ReadFull(c.in, b)
	return string(b[:n]), err
}

func (c *conn) readArray(length string) (any, error) {
	n, err := strconv.Atoi(length)
	if err != nil || n < 0 {
		return nil, err
	}
	list := make([]any, n)
	for i := range list {
		if list[i], err = c.read(); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// info returns a field of INFO, empty where there is none.
func (s *server) info(field string) string {
	reply, err := s.do("INFO")
	text, _ := reply.(string)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(line, field+":"); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
