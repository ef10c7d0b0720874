package resp

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// feed gives a Reader the input in pieces of at most piece bytes. It returns the
// commands, each as quoted words, and the error that ended the input.
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

// open are the limits of an authenticated client.
var open = Limits{MaxBulk: 512 << 20}

func TestTheReaderFindsCommandsInPiecesOfAnySize(t *testing.T) {
	input := "*2\r\n$4\r\nECHO\r\n$3\r\na\r\n\r\n" + "PING \"a b\" 'c'\r\n" +
		"*0\r\n*-1\r\n\r\n" + "*1\r\n$0\r\n\r\n" + "SET k v\n"
	want := []string{
		`["ECHO" "a\r\n"]`, `["PING" "a b" "c"]`, `[]`, `[]`, `[]`, `[""]`, `["SET" "k" "v"]`,
	}
	for piece := 1; piece <= len(input); piece++ {
		got, err := feed(input, piece, open)
		if err != nil || strings.Join(got, " ") != strings.Join(want, " ") {
			t.Fatalf("in pieces of %d: %v, %v", piece, got, err)
		}
	}
}

func TestTheReaderKnowsHowMuchOfAnArgumentIsMissing(t *testing.T) {
	const input = "PING\r\n*2\r\n$4\r\nECHO\r\n$10\r\n0123456789\r\n"
	first, header := strings.Index(input, "$4\r\n")+4, strings.Index(input, "$10\r\n")+5
	for n := 1; n <= len(input); n++ {
		var r Reader
		r.Advance(copy(r.Space(), input[:n]))
		for ok := true; ok; {
			_, ok, _ = r.Next(open)
		}
		want := 0
		switch {
		case n >= header:
			want = len(input) - n
		case n >= first:
			want = max(first+len("ECHO\r\n")-n, 0)
		}
		if got := r.Missing(); got != int64(want) {
			t.Errorf("after %q: %d bytes are missing, want %d", input[:n], got, want)
		}
		arrived := 0
		switch {
		case n == len(input):
		case n >= header:
			arrived = n - header
		case n >= first:
			arrived = min(n-first, len("ECHO\r\n")) % len("ECHO\r\n")
		}
		if got := r.Arrived(); got != int64(arrived) || r.Unparsed() > n {
			t.Errorf("after %q: %d bytes have arrived, %d are unparsed, want %d", input[:n], got, r.Unparsed(), arrived)
		}
	}
}

func TestAVerticalTabAndAFormFeedDoNotEndAWord(t *testing.T) {
	words, ok := SplitLine([]byte("\v a\vb\fc \f\"d\"\ve\tf\x00g"))
	if got := fmt.Sprintf("%q", words); !ok || got != `["a\vb\fc" "d" "e" "f"]` {
		t.Fatalf("SplitLine returns %s, %v", got, ok)
	}
}

func TestSplitLineReadsQuotesAndEscapes(t *testing.T) {
	for line, want := range map[string]string{
		`"\n\r\t\b\a"`:           "[\"\\n\\r\\t\\b\\a\"]",
		`"\q\\\""`:               `["q\\\""]`,
		`"\x0a\x0A\xfF\xF0\x0F"`: `["\n\n\xff\xf0\x0f"]`,
		`"\x4g\x@1\x1"`:          `["x4gx@1x1"]`,
		`'\n\x41'`:               `["\\n\\x41"]`,
		`'it\'s'`:                `["it's"]`,
		`"it's" 'a "b"'`:         `["it's" "a \"b\""]`,
		"\x0ea \x08b":            `["\x0ea" "\bb"]`,
		`a"b c" ""`:              `["ab c" ""]`,
	} {
		words, ok := SplitLine([]byte(line))
		if got := fmt.Sprintf("%q", words); !ok || got != want {
			t.Errorf("SplitLine(%s) returns %s, %v, want %s", line, got, ok, want)
		}
	}
	for _, line := range []string{
		`"a`, `'a`, `"a\"`, `'a\'`, `"\`, `'\`, `"\x`, `"\x4`, `"a"b`, `'a'"b"`,
	} {
		if words, ok := SplitLine([]byte(line)); ok {
			t.Errorf("SplitLine(%s) returns %q, want an error", line, words)
		}
	}
}

func TestAnythingButABulkIsRefusedAtTheEndOfItsLine(t *testing.T) {
	if _, err := feed("*1\r\n:1\r", 1, open); err != nil {
		t.Fatalf("before the line ends: %v", err)
	}
	if _, err := feed("*1\r\n:1\r\n", 1, open); err == nil {
		t.Fatal("no error at the end of the line")
	}
}

func TestANULByteHidesTheEndOfALine(t *testing.T) {
	for _, row := range []struct {
		input   string
		waiting bool
	}{
		{"\x01A\n", false}, {"\x00A\nPING\n", true}, {"A\x00B\n", true}, {"A\x00B\n\n", true},
		{"*\x01\r\n", false}, {"*\x00\r\n", true}, {"*1\x00\r\n", true},
		{"*1\r\n\x01\r\n", false}, {"*1\r\n\x00\r\n", true}, {"*1\r\n$\x001\r\n", true},
	} {
		commands, err := feed(row.input, 1, open)
		if waiting := err == nil && len(commands) == 0; waiting != row.waiting {
			t.Errorf("%q: %v, %v", row.input, commands, err)
		}
	}
}

func TestFramesUpToTheLimitsAreAccepted(t *testing.T) {
	locked := Limits{MaxBulk: 512 << 20, Unauthenticated: true}
	bulk := func(size int) string {
		return fmt.Sprintf("$%d\r\n%s\r\n", size, strings.Repeat("x", size))
	}
	for _, row := range []struct {
		input    string
		lim      Limits
		commands int
	}{
		{"*1\r\n" + bulk(16384), locked, 1},
		{"*10\r\n" + strings.Repeat(bulk(1), 10), locked, 1},
		{"*1\r\n" + bulk(100), Limits{MaxBulk: 100}, 1},
		{"*2147483647\r\n", open, 0},
		{strings.Repeat("a", 65536), open, 0},
		{"*" + strings.Repeat("1", 65535), open, 0},
		{"*1\r\n$" + strings.Repeat("1", 65535), open, 0},
	} {
		commands, err := feed(row.input, 1<<20, row.lim)
		if err != nil || len(commands) != row.commands {
			t.Errorf("%.20q: %d commands, %v", row.input, len(commands), err)
		}
	}
}

func TestAnIncompleteLineBehindALargeCommandIsNoError(t *testing.T) {
	large := "*1\r\n$40000\r\n" + strings.Repeat("x", 40000) + "\r\n"
	for _, rest := range []string{"*1", "PING", "*1\r\n$1", "*1\r\n:"} {
		if commands, err := feed(large+rest, 1<<20, open); err != nil || len(commands) != 1 {
			t.Errorf("%q: %d commands, %v", rest, len(commands), err)
		}
	}
}

func TestRelaxKeepsTheBufferOfAPipeline(t *testing.T) {
	var r Reader
	for len(r.buf) < maxRead {
		n := len(r.Space())
		r.Advance(copy(r.Space(), strings.Repeat("\n", n)))
	}
	for ok := true; ok; {
		_, ok, _ = r.Next(open)
	}
	if r.Relax(); len(r.buf) != maxRead || r.Buffered() != 0 {
		t.Fatalf("a buffer of %d bytes is kept, %d of them unread", len(r.buf), r.Buffered())
	}
}

func TestTheReaderRefusesMalformedFramesWithRedisErrors(t *testing.T) {
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
		{strings.Repeat("a", 65537), "too big inline request", open},
		{"*" + strings.Repeat("1", 65536), "too big mbulk count string", open},
		{"*1\r\n$" + strings.Repeat("1", 65536), "too big bulk count string", open},
	} {
		for _, piece := range []int{1 << 20, 7} {
			_, err := feed(row.input, piece, row.lim)
			if err == nil || err.Error() != "Protocol error: "+row.want {
				t.Errorf("%.30q in pieces of %d: %v, want %s", row.input, piece, err, row.want)
			}
		}
	}
}

func TestAnAnnouncedLengthDoesNotGrowTheBuffer(t *testing.T) {
	var r Reader
	r.Advance(copy(r.Space(), "*2\r\n$500000000\r\nabc"))
	if _, ok, err := r.Next(open); ok || err != nil {
		t.Fatalf("Next returns %v, %v for an incomplete command", ok, err)
	}
	if size := len(r.Space()); size > 1<<20 {
		t.Fatalf("%d bytes of buffer for an announced bulk", size)
	}
}

func TestNextReturnsAnUnreadCommandAgain(t *testing.T) {
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

func TestTheReaderReadsBackAnEncodedCommand(t *testing.T) {
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

func TestTheSecondByteAfterALineMayBeAny(t *testing.T) {
	var r Reader
	r.Advance(copy(r.Space(), "*2\r1$3\r$GETab$10\r\r0123456789*1"+"*1\r\n$4\r\nPING\r\n"))
	for _, want := range [][]string{{"GET", "0123456789"}, {"PING"}} {
		args, ok, err := r.Next(open)
		if !ok || err != nil || len(args) != len(want) {
			t.Fatalf("Next returns %q, %v, %v", args, ok, err)
		}
		for i, arg := range args {
			if string(arg) != want[i] {
				t.Errorf("argument %d is %q", i, arg)
			}
		}
	}
}

func BenchmarkReaderLockCommand(b *testing.B) {
	frame := []byte("*6\r\n$7\r\nEVALSHA\r\n$40\r\n" + strings.Repeat("a", 40) +
		"\r\n$1\r\n1\r\n$8\r\nlock:key\r\n$5\r\n30000\r\n$38\r\n" + strings.Repeat("b", 38) + "\r\n")
	var r Reader
	b.ReportAllocs()
	for range b.N {
		r.Advance(copy(r.Space(), frame))
		if args, ok, _ := r.Next(open); !ok || !bytes.Equal(args[0], []byte("EVALSHA")) {
			b.Fatal("the command is not read")
		}
	}
}

func TestRelaxFreesTheMemoryOfALargeCommand(t *testing.T) {
	told := 0
	r := Reader{Resized: func(by int) { told += by }}
	same := func() {
		t.Helper()
		if told != r.Memory() {
			t.Errorf("Resized knows of %d bytes, Memory of %d", told, r.Memory())
		}
	}
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
		t.Fatalf("Next returns %d arguments, %v, %v", len(args), ok, err)
	}
	same()
	r.Relax()
	same()
	if r.buf != nil || r.args != nil {
		t.Errorf("a buffer of %d bytes and %d arguments are kept", len(r.buf), cap(r.args))
	}
	feed([]byte("*1\r\n$4\r\nPING\r\n*1\r"))
	r.Relax()
	args, ok, err := r.Next(Limits{MaxBulk: 1 << 29})
	if !ok || err != nil || args.String(0) != "PING" {
		t.Fatalf("Next returns %q, %v, %v", args, ok, err)
	}
	if r.Relax(); r.Buffered() != 3 {
		t.Errorf("%d bytes are buffered, want 3", r.Buffered())
	}
	same()
}
