package resp

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/tidwall/redcon"
)

func FuzzTheReaderGivesTheSameCommandsForPiecesOfAnySize(f *testing.F) {
	for _, s := range []string{
		"*1\r\n$4\r\nPING\r\n", "*1\r\n$9223372036854775807\r\n", "PING\x00 \r\n",
		"*0\r\n*-1\r\n\r\n*1\r\n$0\r\n\r\n", "*2\r\n$3\r\nGET\r\n$1\r\na\r\nGET \"a b\" 'c'\n",
		"*2\r\n$1\r\naXY:1\r\n", "*\x00\r\n", "*1\r\n\x00\r\n", "*11\r\n$16385\r\n",
	} {
		f.Add([]byte(s), uint8(3), false)
		f.Add([]byte(s), uint8(0), true)
	}
	f.Fuzz(func(t *testing.T, input []byte, piece uint8, locked bool) {
		lim := Limits{MaxBulk: 1 << 20, Unauthenticated: locked}
		whole, err1 := feed(string(input), len(input)+1, lim)
		parts, err2 := feed(string(input), 1+int(piece&31), lim)
		if fmt.Sprint(whole, err1) != fmt.Sprint(parts, err2) {
			t.Fatalf("in one piece %v %v\nin pieces of %d %v %v", whole, err1, 1+piece&31, parts, err2)
		}
	})
}

// frame encodes a command as clients do.
func frame(args [][]byte) []byte {
	b := redcon.AppendArray(nil, len(args))
	for _, a := range args {
		b = redcon.AppendBulk(b, a)
	}
	return b
}

// longNumbers reports whether b contains a number with which redcon's parser alone
// panics.
func longNumbers(b []byte) bool {
	digits := 0
	for _, c := range b {
		if digits++; c < '0' || c > '9' {
			digits = 0
		}
		if digits > 9 {
			return true
		}
	}
	return false
}

// redcon accepts more than Redis does, for example a plus sign before a length. So
// the test compares only frames that redcon writes the same way, and plain lines.
func FuzzTheReaderAgreesWithRedconOnValidFrames(f *testing.F) {
	for _, s := range []string{
		"*1\r\n$4\r\nPING\r\n*2\r\n$3\r\nGET\r\n$1\r\n\n\r\n", "PING a  b\r\nPING\n",
		"*1\r\n$2\r\n\r\n\r\n", "*+1\r\n$1\r\na\r\n", "*1\r\n$01\r\na\r\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		if longNumbers(input) {
			return
		}
		for rest := input; len(rest) > 0; {
			complete, args, kind, left, err := redcon.ReadNextCommand(rest, nil)
			if !complete || err != nil {
				return
			}
			taken := rest[:len(rest)-len(left)]
			rest = left
			plain := kind == redcon.Telnet && taken[0] != '*' &&
				!bytes.ContainsAny(taken, "\"'\\\x00\t\v\f\r")
			framed := kind == redcon.Redis && bytes.Equal(frame(args), taken)
			if len(args) == 0 || !framed && !plain {
				continue
			}
			var r Reader
			r.Advance(copy(r.Space(), taken)) // the fuzzer's inputs are smaller than a buffer
			if len(taken) > minRead/4 {
				continue
			}
			got, ok, err := r.Next(open)
			same := fmt.Sprintf("%q", [][]byte(got)) == fmt.Sprintf("%q", args)
			if err != nil || !ok || !same || r.Buffered() != 0 {
				t.Fatalf("%q: %q %v %v, redcon reads %q", taken, [][]byte(got), ok, err, args)
			}
		}
	})
}

func FuzzSplitLineReadsBackWhatWasQuoted(f *testing.F) {
	for _, s := range []string{
		`SET k "a\x00b" 'it\'s'`, `a"b"`, `"a"b`, `"\`, `'\`, "a\x00b", `"\xg0\x0"`, "\v\f a",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		before := string(line)
		words, ok := SplitLine(line)
		if !ok {
			return
		}
		var double, single bytes.Buffer
		for _, w := range words {
			fmt.Fprintf(&double, "%s ", hexQuoted(w))
			fmt.Fprintf(&single, "'%s' ", strings.ReplaceAll(string(w), "'", `\'`))
			for i := range w { // the words must be copies
				w[i]++
			}
		}
		if string(line) != before {
			t.Fatalf("the words of %q alias it", before)
		}
		again, ok := SplitLine(double.Bytes())
		for _, w := range again {
			for i := range w {
				w[i]++
			}
		}
		if !ok || fmt.Sprintf("%q", again) != fmt.Sprintf("%q", words) {
			t.Fatalf("%q in double quotes %s: %q", words, double.Bytes(), again)
		}
		if strings.ContainsAny(single.String(), "\\\x00") {
			return // single quotes cannot end in a backslash, and a NUL byte ends the line
		}
		again, ok = SplitLine(single.Bytes())
		for _, w := range again {
			for i := range w {
				w[i]++
			}
		}
		if !ok || fmt.Sprintf("%q", again) != fmt.Sprintf("%q", words) {
			t.Fatalf("%q in single quotes %s: %q", words, single.Bytes(), again)
		}
	})
}

func hexQuoted(w []byte) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range w {
		fmt.Fprintf(&b, `\x%02x`, c)
	}
	return b.String() + `"`
}

func FuzzNumbersKeepTheirValueWhenWrittenAndRead(f *testing.F) {
	for _, s := range []string{
		"0", "-0", "-9223372036854775808", "9223372036854775808", "+1", "01", "1e5",
	} {
		f.Add(s, 1.5)
	}
	f.Add("1", 1e14)
	f.Add("1", math.Copysign(0, -1))
	f.Add("1", math.Inf(-1))
	f.Fuzz(func(t *testing.T, s string, x float64) {
		got, ok := ParseInt([]byte(s))
		want, err := strconv.ParseInt(s, 10, 64)
		canonical := err == nil && strconv.FormatInt(want, 10) == s
		if ok != canonical || ok && got != want {
			t.Fatalf("%q reads as %d %v", s, got, ok)
		}
		text := string(AppendFloat(nil, x, 17))
		if back, err := strconv.ParseFloat(text, 64); err != nil || back != x && !math.IsNaN(x) {
			t.Fatalf("%v is written %s, which reads as %v", x, text, back)
		}
	})
}

// replyMaker makes replies from the fuzzer's bytes.
type replyMaker struct{ in []byte }

func (m *replyMaker) byte() (b byte) {
	if len(m.in) > 0 {
		b, m.in = m.in[0], m.in[1:]
	}
	return b
}

func (m *replyMaker) text() string {
	n := min(int(m.byte()), len(m.in))
	s := string(m.in[:n])
	m.in = m.in[n:]
	return s
}

func (m *replyMaker) elems() []Reply {
	elems := make([]Reply, 2*(m.byte()%3))
	for i := range elems {
		elems[i] = m.reply()
	}
	return elems
}

func (m *replyMaker) reply() Reply {
	switch m.byte() % 14 {
	case 0:
		return Int(int64(m.byte()) << m.byte())
	case 1:
		return Status(m.text())
	case 2:
		return Error(m.text())
	case 3:
		return BulkString(m.text())
	case 4:
		return Array(m.elems()...)
	case 5:
		return Map(m.elems()...)
	case 6:
		return Set(m.elems()...)
	case 7:
		return Push(m.elems()...)
	case 8:
		return Double(math.Float64frombits(uint64(m.byte())<<56 | uint64(m.byte())<<20))
	case 9:
		return Bool(m.byte()&1 > 0)
	case 10:
		return VerbatimAs(m.text(), m.text())
	case 11:
		return BigNumber(strconv.Itoa(int(m.byte())))
	case 12:
		return NilArray
	}
	return Nil
}

func FuzzRepliesAreWellFormedInBothProtocols(f *testing.F) {
	f.Add([]byte("\x04\x02\x03\x02\r\n\x00\x05\x07\x05\x01\x01\x03a\r\n\x08\xff\x01\x0a\x01a\x00"))
	f.Add([]byte("\x07\x01\x02\x02x\n\x0d\x06\x01\x09\x01\x0b\x09"))
	f.Fuzz(func(t *testing.T, input []byte) {
		m := replyMaker{input}
		r := m.reply()
		two := Append([]byte("before"), r, 2)[len("before"):]
		if n, v := redcon.ReadNextRESP(two); n != len(two) || v.Type == 0 {
			t.Fatalf("RESP2: redcon reads %d of %d bytes of %q", n, len(two), two)
		}
		three := Append(nil, r, 3)
		if rest, ok := skipValue(three); !ok || len(rest) > 0 {
			t.Fatalf("RESP3: %q is left of %q, %v", rest, three, ok)
		}
		if r.Kind() == KindBulk && !bytes.HasSuffix(two, []byte("\r\n"+r.Text()+"\r\n")) {
			t.Fatalf("%q is not in %q", r.Text(), two)
		}
	})
}

// skipValue returns the bytes after the first RESP3 value of b. ok is false if
// the value is malformed.
func skipValue(b []byte) (rest []byte, ok bool) {
	line, rest, ok := bytes.Cut(b, []byte("\r\n"))
	if !ok || len(line) == 0 || bytes.ContainsAny(line, "\r\n") {
		return nil, false
	}
	n, err := strconv.Atoi(string(line[1:]))
	switch line[0] {
	case '+', '-':
		return rest, true
	case '_':
		return rest, len(line) == 1
	case '#':
		return rest, string(line) == "#t" || string(line) == "#f"
	case ',':
		_, err := strconv.ParseFloat(string(line[1:]), 64)
		return rest, err == nil
	case ':', '(':
		return rest, err == nil
	case '$', '=':
		if err != nil || n < 0 || len(rest) < n+2 || string(rest[n:n+2]) != "\r\n" {
			return nil, false
		}
		if line[0] == '=' && (n < 4 || rest[3] != ':') {
			return nil, false
		}
		return rest[n+2:], true
	case '%':
		n *= 2
	case '*', '~', '>':
	default:
		return nil, false
	}
	for ; n > 0 && ok; n-- {
		rest, ok = skipValue(rest)
	}
	return rest, ok && err == nil
}
