package lockredistest

import (
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"
)

// askPatience is how long the server waits for a function of the test: less than go-redis
// waits for a reply.
const askPatience = 3 * time.Second

var errAskHangs = errors.New("lockredistest: the If of a fault has not returned for " +
	askPatience.String() + "; it must not call the server, which waits for it")

var errAskEnds = errors.New("lockredistest: the If of a fault has ended its goroutine without a " +
	"result, as t.Fatal, t.Skip and runtime.Goexit do")

// maxAskErrors is how many of its errors asks keeps.
const maxAskErrors = 3

// asks calls functions of the test inside the server, and keeps what went wrong with them.
type asks struct {
	mu   sync.Mutex // guards the fields below
	errs []error
	more int // errors that are not kept
}

// ask calls f on a goroutine of its own: a t.Fatal in f ends that goroutine, and not the
// server's. Without a result ask returns false, and the test fails.
func (a *asks) ask(f func() bool) bool {
	result := make(chan bool, 1)
	go func() {
		defer close(result)
		wrong := errAskEnds
		defer func() {
			if v := recover(); v != nil {
				wrong = fmt.Errorf("lockredistest: the If of a fault panicked: %v\n%s", v, debug.Stack())
			}
			if wrong != nil {
				a.fail(wrong)
			}
		}()
		yes := f()
		wrong = nil
		result <- yes
	}()
	late := time.NewTimer(askPatience)
	defer late.Stop()
	select {
	case yes := <-result:
		return yes
	case <-late.C:
		a.fail(errAskHangs)
		return false
	}
}

func (a *asks) fail(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.errs) == maxAskErrors {
		a.more++
		return
	}
	a.errs = append(a.errs, err)
}

// err returns what went wrong, nil if nothing did.
func (a *asks) err() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.more > 0 {
		return errors.Join(append(slices.Clone(a.errs),
			fmt.Errorf("lockredistest: %d more such errors", a.more))...)
	}
	return errors.Join(a.errs...)
}
