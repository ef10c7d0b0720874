package sender

import (
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"
)

// command returns a command that waits a second in the pool, is written then, and gets its
// result after the given time.
func command(t *testing.T, v any, err error, after time.Duration) *requestCmd {
	cmd := newRequestCmd(redis.NewCmd(t.Context(), "get", "k"))
	time.Sleep(time.Second)
	_ = cmd.Args()
	time.Sleep(after)
	cmd.SetVal(v)
	cmd.SetErr(err)
	return cmd
}

func TestTheTimeOfARequestIsCountedFromItsWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cmd := command(t, "v", nil, time.Millisecond)
		_ = cmd.Args() // as a hook may do
		if took := cmd.took(); took != time.Millisecond {
			t.Errorf("it took %v", took)
		}
		cmd.batch = 10
		if took := cmd.took(); took != time.Millisecond/10 {
			t.Errorf("one of 10 took %v", took)
		}
	})
}

func TestAConnectionThatFailsSoonAfterTheWriteWasBrokenBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for after, want := range map[time.Duration]bool{staleTime: true, staleTime + 1: false} {
			_, err := result(command(t, nil, io.EOF, after))
			if _, got := errors.AsType[staleError](err); got != want || !errors.Is(err, io.EOF) {
				t.Errorf("EOF after %v: stale is %v, the error %v", after, got, err)
			}
		}
	})
}
