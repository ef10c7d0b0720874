package resp

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// feed gives the reader input in pieces of at most piece bytes and returns the
// commands as quoted words, a line each, and the error that ended it.
func feed(input string, piece int, lim Limits) (commands []string, err error) {
	var r Reader
	for len(input) > 0 {
		n := copy(r.Space(), input[:min(piece, len(input))])
		r.Advance(n)
		input = input[n:]
		for {
			args, ok, err := r.Next(lim)
			if err != nil {
				return commands, err
			}
			if !ok {
				break
			}
			commands = append(commands, fmt.Sprintf("%q", [][]byte(args)))
		}
	}
	return commands, nil
}

var open = Limits{MaxBulk: 512 << 20}

func TestReaderFindsCommandsHoweverTheBytesArrive(t *testing.T) {
	input := "*2\r\n$4\r\nECHO\r\n$3\r\na\r\n\r\n" + "PING \"a b\" 'c'\r\n" + "*0\r\n*-1\r\n\r\n" + "*1\r\n$0\r\n\r\n" + "SET k v\n"
	want := []string{`["ECHO" "a\r\n"]`, `["PING" "a b" "c"]`, `[""]`, `["SET" "k" "v"]`}
	for piece := 1; piece <= len(input); piece++ {
		got, err := feed(input, piece, open)
		if err != nil || strings.Join(got, " ") != strings.Join(want, " ") {
			t.Fatalf("in pieces of %d: %v, %v", piece, got, err)
		}
	}
}

func TestOnlyFourSpaceCharactersEndAWord(t *testing.T) {
	words, ok := SplitLine([]byte("\v a\vb\fc \f\"d\"\ve\tf\x00g"))
	if got := fmt.Sprintf("%q", words); !ok || got != `["a\vb\fc" "d" "e" "f"]` {
		t.Fatal(got, ok)
	}
}

func TestReaderRefusesMalformedFramesInRedisWords(t *testing.T) {
	locked := Limits{MaxBulk: 512 << 20, Unauthenticated: true}
	for _, row := range []struct {
		input, want string
		lim         Limits
	}{
		{"*1\r\n$9223372036854775807\r\n", "invalid bulk length", open},
		{"*1\r\n$-1\r\n", "invalid bulk length", open},
		{"*1\r\n$01\r\n", "invalid bulk length", open},
		{"*1\r\n$536870913\r\n", "invalid bulk length", open},
		{"*2147483648\r\n", "invalid multibulk length", open},
		{"*a\r\n", "invalid multibulk length", open},
		{"*1\r\n:1\r\n", "expected '$', got ':'", open},
		{"*11\r\n", "unauthenticated multibulk length", locked},
		{"*1\r\n$16385\r\n", "unauthenticated bulk length", locked},
		{"SET \"a\r\n", "unbalanced quotes in request", open},
		{"SET \"a\"b\r\n", "unbalanced quotes in request", open},
		{strings.Repeat("a", 70000), "too big inline request", open},
		{"*" + strings.Repeat("1", 70000), "too big mbulk count string", open},
		{"*1\r\n$" + strings.Repeat("1", 70000), "too big bulk count string", open},
	} {
		for _, piece := range []int{1 << 20, 7} {
			_, err := feed(row.input, piece, row.lim)
			if err == nil || err.Error() != "Protocol error: "+row.want {
				t.Errorf("%.30q in pieces of %d: %v, want %s", row.input, piece, err, row.want)
			}
		}
	}
}

func TestReaderGrowsWithWhatArrivesAndNotWithWhatIsAnnounced(t *testing.T) {
	var r Reader
	r.Advance(copy(r.Space(), "*2\r\n$500000000\r\nabc"))
	if _, ok, err := r.Next(open); ok || err != nil {
		t.Fatal(ok, err)
	}
	if size := len(r.Space()); size > 1<<20 {
		t.Fatalf("%d bytes of buffer for an announced bulk", size)
	}
}

func TestReaderGivesAnUnreadCommandAgain(t *testing.T) {
	var r Reader
	r.Advance(copy(r.Space(), "*1\r\n$1\r\na\r\n*1\r\n$1\r\nb\r\n"))
	r.Next(open)
	r.Unread()
	r.Space()
	for _, want := range []string{"a", "b"} {
		if args, ok, _ := r.Next(open); !ok || string(args[0]) != want {
			t.Fatalf("got %q, want %q", args, want)
		}
	}
}

func TestReaderReadsBackWhatWasEncoded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		command := rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), 0, 30), 1, 8).Draw(t, "command")
		elems := make([]Reply, len(command))
		for i, a := range command {
			elems[i] = Bulk(a)
		}
		frame := Append(nil, Array(elems...), 2)
		got, err := feed(string(frame), rapid.IntRange(1, len(frame)).Draw(t, "piece"), open)
		if err != nil || len(got) != 1 || got[0] != fmt.Sprintf("%q", command) {
			t.Fatalf("%v, %v", got, err)
		}
	})
}

func BenchmarkReaderLockCommand(b *testing.B) {
	frame := []byte("*6\r\n$7\r\nEVALSHA\r\n$40\r\n" + strings.Repeat("a", 40) + "\r\n$1\r\n1\r\n$8\r\nlock:key\r\n$5\r\n30000\r\n$38\r\n" + strings.Repeat("b", 38) + "\r\n")
	var r Reader
	b.ReportAllocs()
	for range b.N {
		r.Advance(copy(r.Space(), frame))
		if args, ok, _ := r.Next(open); !ok || !bytes.Equal(args[0], []byte("EVALSHA")) {
			b.Fatal("not read")
		}
	}
}

func TestALargeCommandLeavesNothingBehind(t *testing.T) {
	var r Reader
	feed := func(b []byte) {
		for len(b) > 0 {
			n := copy(r.Space(), b)
			r.Advance(n)
			b = b[n:]
		}
	}
	feed([]byte("*2\r\n$3\r\nGET\r\n$1000000\r\n"))
	feed(bytes.Repeat([]byte("x"), 1000000))
	feed([]byte("\r\n"))
	if args, ok, err := r.Next(Limits{MaxBulk: 1 << 29}); !ok || err != nil || len(args) != 2 {
		t.Fatal(len(args), ok, err)
	}
	r.Relax()
	if r.buf != nil || r.args != nil {
		t.Errorf("%d bytes and %d arguments are left", len(r.buf), cap(r.args))
	}
	feed([]byte("*1\r\n$4\r\nPING\r\n*1\r"))
	r.Relax()
	if args, ok, err := r.Next(Limits{MaxBulk: 1 << 29}); !ok || err != nil || args.String(0) != "PING" {
		t.Fatal(args, ok, err)
	}
	if r.Relax(); r.Buffered() != 3 {
		t.Errorf("%d bytes wait", r.Buffered())
	}
}
