package server

import (
	"testing"
)

func TestSizesAreFormattedAsInRedis(t *testing.T) {
	for bytes, want := range map[int64]string{
		0: "0B", 1023: "1023B", 1024: "1.00K", 1<<20 - 1: "1024.00K", 1 << 20: "1.00M",
		1 << 30: "1.00G", 1 << 40: "1.00T", 3 << 39: "1.50T",
	} {
		if got := human(bytes); got != want {
			t.Errorf("human(%d) is %s, want %s", bytes, got, want)
		}
	}
}
