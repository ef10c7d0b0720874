package stream

import (
	"strings"
	"testing"

	"github.com/lockredis/lockredis/store"
)

func FuzzStreamIDsComeBack(f *testing.F) {
	for _, seed := range []string{
		"1-1", "0", "-", "+", "5-*", "(3-7", "18446744073709551615-18446744073709551615", " 4-1", "+5-3",
		"5--01", "1-1\x00x", "18446744073709551616", "", "$", ">", strings.Repeat("1", 128), "- -1", "1-",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		id, ok := parseID([]byte(text), idNoSeq)
		if again, also := parseID([]byte(id.String()), idNoSeqEnd); ok && (!also || again != id) {
			t.Errorf("%q is %v, which is read as %v", text, id, again)
		}
		if any, also := parseAnyID([]byte(text), idNoSeq); ok && (!also || any != id) {
			t.Errorf("%q is %v, and with - and + it is %v", text, id, any)
		}
		with, seq, also := parseIDParts([]byte(text), idNoSeq, true)
		if ok && (!also || !seq || with != id) {
			t.Errorf("%q is %v, and with * it is %v", text, id, with)
		}
		from, failure := parseIntervalStart([]byte("(" + text))
		if next, above := id.Next(); ok && above && (failure.IsError() || from != next) {
			t.Errorf("an interval above %q begins at %v, want %v", text, from, next)
		}
		_, to, failure := parseInterval([]byte("-"), []byte("("+text))
		end, _ := parseID([]byte(text), idNoSeqEnd)
		if prev, below := end.Prev(); ok && below && (failure.IsError() || to != prev) {
			t.Errorf("an interval below %q ends at %v, want %v", text, to, prev)
		}
	})
}

func TestXaddNeverGoesBackWithTheClock(t *testing.T) {
	o := xaddOptions{}
	last := store.StreamID{MS: 1000, Seq: 7}
	for _, test := range []struct {
		now  uint64
		want store.StreamID
	}{
		{999, store.StreamID{MS: 1000, Seq: 8}},
		{1000, store.StreamID{MS: 1000, Seq: 8}},
		{1001, store.StreamID{MS: 1001}},
	} {
		if id, failure := o.newID(last, test.now); id != test.want || failure.IsError() {
			t.Errorf("at %d: %v, want %v", test.now, id, test.want)
		}
	}
}
