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
		{1, []string{"MULTI", "SET b 2", "SET c 3", "EXEC", "SET a 1"}, []string{"MULTI", "SET b 2", "SET c 3", "EXEC"}},
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
