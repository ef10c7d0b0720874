package aof

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
)

// ErrFormat is the error for bytes that are no commands.
var ErrFormat = errors.New("Bad file format reading the append only file: " + //lint:ignore ST1005 Redis's text
	"make a backup of your AOF file, then use ./redis-check-aof --fix <filename.manifest>")

// ErrTruncated is the error for a file that ends inside of a command.
var ErrTruncated = io.ErrUnexpectedEOF

// maxLine is the size of the longest line with a number, in bytes. An annotation may be longer.
const maxLine = 128

// Commands calls do for each command of a file, and stops when do returns an error. The
// arguments are valid until do returns. left is the most bytes that r has: a longer argument is
// not there.
func Commands(r *bufio.Reader, left int64, do func(args [][]byte) error) error {
	for {
		c, err := r.Peek(1)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case c[0] == '#':
			if _, err := readLine(r); err != nil && !errors.Is(err, bufio.ErrBufferFull) {
				return err
			}
			continue
		}
		n, err := readNumber(r, '*')
		if err != nil {
			return err
		}
		if n < 1 || n > left {
			return ErrFormat
		}
		var args [][]byte
		for range n {
			size, err := readNumber(r, '$')
			if err != nil {
				return err
			}
			if size < 0 {
				return ErrFormat
			}
			if size > left {
				return ErrTruncated
			}
			arg := make([]byte, size)
			if err := readAll(r, arg); err != nil {
				return err
			}
			var end [2]byte
			if err := readAll(r, end[:]); err != nil {
				return err
			}
			args = append(args, arg)
		}
		if err := do(args); err != nil {
			return err
		}
	}
}

func readAll(r io.Reader, b []byte) error {
	_, err := io.ReadFull(r, b)
	if errors.Is(err, io.EOF) {
		return ErrTruncated
	}
	return err
}

// readLine returns a line with its end.
func readLine(r *bufio.Reader) (line []byte, err error) {
	line, err = r.ReadSlice('\n')
	if errors.Is(err, io.EOF) {
		return nil, ErrTruncated
	}
	return line, err
}

// readNumber reads a line: mark and a number.
func readNumber(r *bufio.Reader, mark byte) (int64, error) {
	line, err := readLine(r)
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return 0, ErrFormat
	case err != nil:
		return 0, err
	case line[0] != mark || len(line) > maxLine:
		return 0, ErrFormat
	}
	n, err := strconv.ParseInt(string(bytes.TrimRight(line[1:], "\r\n")), 10, 64)
	if err != nil {
		return 0, ErrFormat
	}
	return n, nil
}
