package replication

import (
	"strings"
	"testing"

	"github.com/lockredis/lockredis/resp"
)

// lines returns commands as they are in a stream.
func lines(all ...string) (b []byte) {
	for _, line := range all {
		b = resp.AppendCommand(b, strings.Fields(line)...)
	}
	return b
}

func TestALagHoldsBackTheLastWritesAndWhatFollows(t *testing.T) {
	for _, c := range []struct {
		most      int
		told, due []string
	}{
		{1, []string{"SELECT 0", "SET a 1"}, []string{"SELECT 0"}},
		{1, []string{"PING", "SET a 1", "PING"}, []string{"PING"}},
		{1, []string{"SET a 1", "REPLCONF GETACK *", "SET b 2"}, []string{"SET a 1", "REPLCONF GETACK *"}},
		{1, []string{"SET a 1", "MULTI", "SET b 2", "SET c 3", "EXEC"}, []string{"SET a 1"}},
		{1, []string{"MULTI", "SET b 2", "SET c 3", "EXEC", "SET a 1"},
			[]string{"MULTI", "SET b 2", "SET c 3", "EXEC"}},
		{2, []string{"SET a 1", "SET b 2", "SELECT 1", "SET c 3"}, []string{"SET a 1"}},
		{3, []string{"SET a 1", "SET b 2", "SET c 3"}, nil},
	} {
		for step := 1; step < 40; step += 13 { // the stream comes in pieces of any size
			l, due, all := &lag{most: c.most}, []byte(nil), lines(c.told...)
			for b := all; len(b) > 0; {
				n := min(step, len(b))
				due = append(due, l.add(b[:n])...)
				b = b[n:]
			}
			if want := lines(c.due...); string(due) != string(want) {
				t.Errorf("%d of %q: %q is due, want %q", c.most, c.told, due, want)
			}
			if got := int(l.size()); got != len(all)-len(due) {
				t.Errorf("%d of %q: %d bytes are held back, want %d", c.most, c.told, got, len(all)-len(due))
			}
			if due = append(due, l.release(0)...); string(due) != string(all) {
				t.Errorf("%d of %q: %q arrives in the end", c.most, c.told, due)
			}
		}
	}
}

// A replica that asked for the stream from the middle of a command gets all that is held back, and the
// lag begins anew behind it.
func TestALagBeginsAnewBehindBytesThatAreNoCommand(t *testing.T) {
	for _, before := range [][]string{nil, {"SET a 1"}, {"MULTI"}, {"SET a 1", "MULTI", "SET b 2"}} {
		l := &lag{most: 1}
		broken := append(lines(before...), "*x\r\n"...)
		due := l.add(broken)
		if string(due) != string(broken) || l.size() != 0 {
			t.Errorf("%q: %q is due of %q, %d bytes are held back", before, due, broken, l.size())
		}
		if due := l.add(lines("SET c 3", "SET d 4")); string(due) != string(lines("SET c 3")) {
			t.Errorf("%q: behind it %q is due", before, due)
		}
	}
}
