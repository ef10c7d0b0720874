package resp

import "testing"

func TestErrorfEndsArgumentsAtANULAndLeavesOutLineBreaksAtTheEnd(t *testing.T) {
	for want, got := range map[string]Reply{
		"ERR Unknown node a":        Errorf("ERR Unknown node %s", []byte("a\x00b")),
		"ERR Unknown node b":        Errorf("ERR Unknown node %s", "b\r\n\n"),
		"ERR '\n' has 3 bytes, max": Errorf("ERR '%s' has %d bytes, %v", "\n\x00", 3, "max\x00"),
	} {
		if got.Text() != want || !got.IsError() {
			t.Errorf("%q, want %q", got.Text(), want)
		}
	}
}
