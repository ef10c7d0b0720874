package resp

import (
	"bytes"
	"math"
	"strconv"
	"testing"
)

func TestEveryReplyIsEncodedForBothProtocols(t *testing.T) {
	for _, row := range []struct {
		reply        Reply
		resp2, resp3 string
	}{
		{OK, "+OK\r\n", "+OK\r\n"},
		{Error("ERR a\r\nb"), "-ERR a  b\r\n", "-ERR a  b\r\n"},
		{Int(-7), ":-7\r\n", ":-7\r\n"},
		{Bulk(nil), "$0\r\n\r\n", "$0\r\n\r\n"},
		{BulkInt(1 << 40), "$13\r\n1099511627776\r\n", "$13\r\n1099511627776\r\n"},
		{Nil, "$-1\r\n", "_\r\n"},
		{NilArray, "*-1\r\n", "_\r\n"},
		{Bool(true), ":1\r\n", "#t\r\n"},
		{Bool(false), ":0\r\n", "#f\r\n"},
		{Double(0.1), "$19\r\n0.10000000000000001\r\n", ",0.10000000000000001\r\n"},
		{Double(math.Inf(1)), "$3\r\ninf\r\n", ",inf\r\n"},
		{Double(math.Inf(-1)), "$4\r\n-inf\r\n", ",-inf\r\n"},
		{Double(math.Copysign(0, -1)), "$2\r\n-0\r\n", ",-0\r\n"},
		{Double(1e20), "$5\r\n1e+20\r\n", ",1e+20\r\n"},
		{Double(922337203685477), "$15\r\n922337203685477\r\n", ",922337203685477\r\n"},
		{Verbatim("hi"), "$2\r\nhi\r\n", "=6\r\ntxt:hi\r\n"},
		{VerbatimAs("markdown", "hi"), "$2\r\nhi\r\n", "=6\r\nmar:hi\r\n"},
		{VerbatimAs("m", "hi"), "$2\r\nhi\r\n", "=6\r\nm  :hi\r\n"},
		{BigNumber("123"), "$3\r\n123\r\n", "(123\r\n"},
		{EmptyArray, "*0\r\n", "*0\r\n"},
		{Map(BulkString("a"), Int(1)), "*2\r\n$1\r\na\r\n:1\r\n", "%1\r\n$1\r\na\r\n:1\r\n"},
		{Set(Int(1)), "*1\r\n:1\r\n", "~1\r\n:1\r\n"},
		{Push(Int(1)), "*1\r\n:1\r\n", ">1\r\n:1\r\n"},
		{Sequence(Int(1), OK), ":1\r\n+OK\r\n", ":1\r\n+OK\r\n"},
		{Array(ArrayHeader(0), Nil), "*2\r\n*0\r\n$-1\r\n", "*2\r\n*0\r\n_\r\n"},
		{NoReply, "", ""},
	} {
		if got := string(Append(nil, row.reply, 2)); got != row.resp2 {
			t.Errorf("RESP2: %q, want %q", got, row.resp2)
		}
		if got := string(Append(nil, row.reply, 3)); got != row.resp3 {
			t.Errorf("RESP3: %q, want %q", got, row.resp3)
		}
	}
}

func TestAReplyReportsItsKindAndValue(t *testing.T) {
	for _, row := range []struct {
		name      string
		reply     Reply
		n         int64
		nil, fail bool
	}{
		{"integer", Int(5), 5, false, false},
		{"boolean", Bool(true), 1, false, false},
		{"double", Double(2), 0, false, false},
		{"bulk", Bulk(nil), 0, false, false},
		{"nil", Nil, 0, true, false},
		{"nil array", NilArray, 0, true, false},
		{"error", Error("ERR"), 0, false, true},
	} {
		r := row.reply
		if r.Int() != row.n || r.IsNil() != row.nil || r.IsError() != row.fail {
			t.Errorf("%s: Int %d, IsNil %v, IsError %v", row.name, r.Int(), r.IsNil(), r.IsError())
		}
	}
	if got := Double(2).Double(); got != 2 {
		t.Errorf("Double returns %v, want 2", got)
	}
	if got := Int(2).Double(); got != 0 {
		t.Errorf("Double of an integer returns %v, want 0", got)
	}
}

func TestParseIntAcceptsExactlyWhatRedisAccepts(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "-1": -1, "9223372036854775807": math.MaxInt64, "-9223372036854775808": math.MinInt64,
	} {
		if got, ok := ParseInt([]byte(text)); !ok || got != want {
			t.Errorf("ParseInt(%q) returns %d, %v", text, got, ok)
		}
	}
	for _, text := range []string{
		"", "-", "+1", "01", "-0", " 1", "1 ", "1.0", "a", "9223372036854775808",
		"-9223372036854775809", "99999999999999999999",
	} {
		if got, ok := ParseInt([]byte(text)); ok || got != 0 {
			t.Errorf("ParseInt(%q) returns %d, %v, want 0, false", text, got, ok)
		}
	}
}

func TestScalarRepliesDoNotAllocate(t *testing.T) {
	buf := make([]byte, 0, 64)
	value := []byte("value")
	if n := testing.AllocsPerRun(100, func() {
		buf = Append(buf[:0], Int(5), 2)
		buf = Append(buf, Bulk(value), 3)
		buf = Append(buf, Nil, 2)
		buf = Append(buf, Double(1.5), 3)
	}); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}

func TestAReplyInPiecesHasTheSameEncoding(t *testing.T) {
	large := Bulk(bytes.Repeat([]byte("x"), pieceBytes/3))
	for _, r := range []Reply{
		Int(1), Bulk([]byte("a")), Array(),
		Array(Int(1), Array(large, large, Array(large, large)), large, Bulk([]byte("end"))),
	} {
		for _, proto := range []int{2, 3} {
			var got []byte
			pieces := 0
			rest, ok := AppendInPieces(nil, r, proto, func(b []byte) ([]byte, bool) {
				pieces++
				got = append(got, b...)
				return b[:0], true
			})
			if got = append(got, rest...); !ok || !bytes.Equal(got, Append(nil, r, proto)) {
				t.Errorf("RESP%d: %.100q, %d bytes in %d pieces", proto, got, len(got), pieces)
			}
			if wantPieces := len(got) / (4 * pieceBytes / 3); pieces < wantPieces {
				t.Errorf("%d bytes in %d pieces, want at least %d", len(got), pieces, wantPieces)
			}
		}
	}
	calls := 0
	stop := func(b []byte) ([]byte, bool) {
		calls++
		return b[:0], false
	}
	_, ok := AppendInPieces(nil, Array(large, large, large, large, large, large), 2, stop)
	if ok || calls != 1 {
		t.Errorf("full returned false: AppendInPieces returns %v after %d calls", ok, calls)
	}
}

func TestABulkIntIsTheBulkStringOfItsDigits(t *testing.T) {
	for _, n := range []int64{0, 7, -7, 10, 1234567890, math.MaxInt64, math.MinInt64} {
		r, want := BulkInt(n), BulkString(strconv.FormatInt(n, 10))
		if r.Kind() != KindBulk || r.Text() != want.Text() {
			t.Errorf("%d is kind %v, %q", n, r.Kind(), r.Text())
		}
		for proto := 2; proto <= 3; proto++ {
			if got, want := Append(nil, r, proto), Append(nil, want, proto); string(got) != string(want) {
				t.Errorf("%d: %q, want %q", n, got, want)
			}
		}
	}
}
