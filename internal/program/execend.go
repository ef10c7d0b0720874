package program

import (
	"errors"
	"fmt"
	"time"

	"github.com/lockredis/lockredis"
	"github.com/lockredis/lockredis/internal/backdoor"
	"github.com/lockredis/lockredis/internal/inspect"
)

// scriptPatience is how long a script may run on after the end of the command.
const scriptPatience = 5 * time.Second

// mostSignals is more than the number of every signal that ends a process by default.
const mostSignals = 32

// finish saves the data, if the directives ask for that, when the command has ended with a status. The
// error says what the command has left behind. A command that a signal has ended could not release
// its locks: they are no leaks. A status from 129 on tells of a signal, as shells and JVMs have it.
func (e *execution) finish(run *running, status int) (err error) {
	signalled := status > statusSignalled && status < statusSignalled+mostSignals
	for _, srv := range run.servers() {
		select {
		case <-srv.Done(): // the command has sent SHUTDOWN
			continue
		default:
		}
		ended := backdoor.Open(srv).AwaitScript(scriptPatience)
		if !e.allowLeaks && !signalled && !backdoor.Open(srv).Copies() {
			err = errors.Join(err, leftAt(srv, ended))
		}
	}
	if saveErr := run.save(); saveErr != nil {
		err = errors.Join(err, fmt.Errorf("lockredis exec: save the data: %w", saveErr))
	}
	return err
}

// leftAt returns an error that names what clients have left at a server, nil for nothing. A script
// that has not ended by itself is one such thing.
func leftAt(srv *lockredis.Server, scriptEnded bool) error {
	if !scriptEnded {
		return fmt.Errorf("lockredis exec: a script still ran at %s", srv.Addr())
	}
	inspector := backdoor.Open(srv).Inspector
	left := inspect.AwaitLeftovers(time.Sleep, func() ([]inspect.Leftover, int64, int) {
		seen := inspector.Look()
		found := seen.Leftovers(nil)
		return found, seen.Now, len(seen.Locks) + len(found)
	})
	if len(left) == 0 {
		return nil
	}
	return fmt.Errorf("lockredis exec: left behind at %s (--allow-leaks turns this check off):%s",
		srv.Addr(), inspect.Describe(left))
}
