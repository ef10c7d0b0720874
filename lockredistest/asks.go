package lockredistest

import (
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"
)

// askPatience is how long the server waits for a function of the test: less than go-redis
// waits for a reply.
const askPatience = 3 * time.Second

var errAskHangs = errors.New("lockredistest: the If of a fault has not returned for " +
	askPatience.String() + "; it must not call the server, which waits for it")

// asks calls functions of the test inside the server, and keeps what went wrong with them.
type asks struct {
	mu   sync.Mutex // guards errs
	errs []error
}

// ask calls f on a goroutine of its own: a t.Fatal in f ends that goroutine, and not the
// server's. Without a result ask returns false.
func (a *asks) ask(f func() bool) bool {
	result := make(chan bool, 1)
	go func() {
		defer close(result) // also after a t.Fatal
		defer func() {
			if v := recover(); v != nil {
				a.fail(fmt.Errorf("lockredistest: the If of a fault panicked: %v\n%s", v, debug.Stack()))
			}
		}()
		result <- f()
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
	a.errs = append(a.errs, err)
}

// err returns what went wrong, nil if nothing did.
func (a *asks) err() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return errors.Join(a.errs...)
}
