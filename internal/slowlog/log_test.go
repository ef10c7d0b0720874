package slowlog

import (
	"strconv"
	"strings"
	"testing"
)

func TestTheNewestEntriesStayAndTheOldestGo(t *testing.T) {
	var l Log
	for range 5 {
		l.Add(Entry{}, 3)
	}
	var ids []int64
	for _, e := range l.Newest(10) {
		ids = append(ids, e.ID)
	}
	if len(ids) != 3 || ids[0] != 2 || ids[2] != 4 {
		t.Errorf("the log has %v", ids)
	}
	l.Shrink(1)
	if l.Len() != 1 || l.Newest(1)[0].ID != 4 {
		t.Errorf("%d entries are left", l.Len())
	}
}

func TestIDsGoOnAfterReset(t *testing.T) {
	var l Log
	l.Add(Entry{}, 3)
	l.Reset()
	l.Add(Entry{}, 0)
	l.Add(Entry{}, 3)
	if l.Len() != 1 || l.Newest(1)[0].ID != 2 {
		t.Errorf("%d entries, %v", l.Len(), l.Newest(1))
	}
}

func TestALogOfManyEntriesKeepsItsSize(t *testing.T) {
	var l Log
	for range 100_000 {
		l.Add(Entry{}, 100)
	}
	if cap(l.entries) > 400 {
		t.Errorf("100 entries take the memory of %d", cap(l.entries))
	}
}

func TestLongCommandLinesAreCut(t *testing.T) {
	args := [][]byte{[]byte("del")}
	for i := range 40 {
		args = append(args, []byte("k"+strconv.Itoa(i)))
	}
	if line := Cut(args); len(line) != 32 || line[30] != "k29" || line[31] != "... (10 more arguments)" {
		t.Errorf("%d arguments end in %v", len(line), line[30:])
	}
	if line := Cut(args[:32]); len(line) != 32 || line[31] != "k30" {
		t.Errorf("%d arguments end in %v", len(line), line[30:])
	}
	long := strings.Repeat("x", 128)
	if got := Cut([][]byte{[]byte(long)})[0]; got != long {
		t.Errorf("128 bytes are cut to %q", got)
	}
	if got := Cut([][]byte{[]byte(long + "yz")})[0]; got != long+"... (2 more bytes)" {
		t.Errorf("130 bytes are cut to %q", got)
	}
}
