package resp

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestRepliesAreReadAsTheyWereWritten(t *testing.T) {
	for _, reply := range []Reply{
		Status("PONG"), Error("NOAUTH Authentication required."), Int(-7), BulkString(""),
		BulkString("a\r\nb"), Nil, NilArray, EmptyArray,
		Array(Int(1), Array(BulkString("x"), Nil), Status("y")),
	} {
		encoded := string(Append(nil, reply, 2))
		r := NewReplyReader(strings.NewReader(encoded + encoded))
		for range 2 {
			got, err := r.Next()
			if err != nil || string(Append(nil, got, 2)) != encoded {
				t.Errorf("%q: read %q, %v", encoded, Append(nil, got, 2), err)
			}
		}
		if _, err := r.Next(); !errors.Is(err, io.EOF) {
			t.Errorf("%q: %v after the last reply, want EOF", encoded, err)
		}
	}
}

func TestMalformedRepliesAreErrors(t *testing.T) {
	for text, want := range map[string]error{
		"\r\n":                     errReplyKind,
		"!5\r\n":                   errReplyKind,
		"$x\r\n":                   errReplyNum,
		"$-2\r\n":                  errReplyNum,
		"*-2\r\n":                  errReplyNum,
		":1\n":                     errReplyLine,
		"$9223372036854775807\r\n": errReplyLarge,
		"*9223372036854775807\r\n": errReplyLarge,
		strings.Repeat("*1\r\n", maxReplyDepth+1): errReplyLarge,
		"+" + strings.Repeat("a", maxReplyLine):   errReplyLarge,
		"$3\r\nab":                                io.ErrUnexpectedEOF,
		"*2\r\n:1\r\n":                            io.EOF,
	} {
		if _, err := NewReplyReader(strings.NewReader(text)).Next(); !errors.Is(err, want) {
			t.Errorf("%.40q: %v, want %v", text, err, want)
		}
	}
}

func TestACommandIsReadAsItWasWritten(t *testing.T) {
	var r Reader
	encoded := AppendCommand(nil, "SET", "key", "a\r\nb", "")
	r.Advance(copy(r.Space(), encoded))
	args, ok, err := r.Next(Limits{MaxBulk: 1 << 20})
	if err != nil || !ok || len(args) != 4 || string(args[2]) != "a\r\nb" || len(args[3]) != 0 {
		t.Errorf("%q %v %v", args, ok, err)
	}
}

func FuzzTheReplyReaderSurvivesAnyInput(f *testing.F) {
	f.Add("*2\r\n$1\r\na\r\n:1\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		r := ReplyReader{bufio.NewReader(strings.NewReader(text))}
		for {
			if _, err := r.Next(); err != nil {
				return
			}
		}
	})
}
