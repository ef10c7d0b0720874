package program

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/lockredis/lockredis/internal/config"
)

// ending is how the program learns that it has to end, and saves its data before.
type ending struct {
	set  *config.Config
	log  *slog.Logger
	exit func(code int)               // os.Exit
	save atomic.Pointer[func() error] // nil until the server has started
	// stopping is the supervisor that is told of the end; nil: none yet
	stopping atomic.Pointer[supervisor]

	signals chan os.Signal // set by await
	signal  atomic.Int32   // the signal that ends the program; 0: none

	forced  atomic.Bool // the data may not be saved
	aborted atomic.Bool // SHUTDOWN ABORT has undone the last signal
}

// await returns a context that a signal or the end of the parent process ends. A signal
// does not end it if the data cannot be saved, as in Redis; a second SIGINT does. So does a
// SIGINT that comes while a signal before it still waits for a script.
func (e *ending) await() (context.Context, error) {
	e.signals = make(chan os.Signal, 1)
	signal.Notify(e.signals, syscall.SIGTERM, syscall.SIGINT)
	orphaned, err := watchParent(e.set)
	if err != nil {
		return nil, fmt.Errorf("lockredis: exit-with-parent: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		defer cancel()
		e.watch(e.signals, orphaned)
	}()
	return ctx, nil
}

// signalError is the signal that has ended the program.
type signalError syscall.Signal

func (s signalError) Error() string { return "ended by a signal: " + syscall.Signal(s).String() }

// bySignal returns a signalError if a signal has ended the program, and a launcher has given its
// process id. The launcher stops the program by SHUTDOWN. So it learns from the status whether the
// program was told to end by another process too, and before. It is the last that ending does.
func (e *ending) bySignal() error {
	if e.set.ParentPID == 0 {
		return nil
	}
	signal.Stop(e.signals) // behind this call signals has what was sent before
	select {
	case sig := <-e.signals:
		e.note(sig)
	default:
	}
	if sig := e.signal.Load(); sig != 0 {
		return signalError(sig)
	}
	return nil
}

// note notes the signal that ends the program.
func (e *ending) note(sig os.Signal) {
	if number, ok := sig.(syscall.Signal); ok {
		e.signal.Store(int32(number))
	}
}

// watch returns when the program has to end. If the data may not be saved then, or the server
// has not started, the process ends soon after, even if closing the servers does not: they may
// wait for a script, a full log pipe or a file that blocks. While the server starts, a SIGINT
// after another signal ends the process at once, as in Redis.
func (e *ending) watch(signals <-chan os.Signal, orphaned <-chan struct{}) {
	code := 0
	if e.wait(signals, orphaned) {
		e.forced.Store(true)
		code = 1
	}
	if e.forced.Load() || e.save.Load() == nil {
		time.AfterFunc(forcePatience, func() { e.exit(code) })
		go e.insist(signals)
	}
}

// insist ends the process when a SIGINT comes.
func (e *ending) insist(signals <-chan os.Signal) {
	for sig := range signals {
		if sig == syscall.SIGINT {
			e.exit(1)
		}
	}
}

// errForced is how the program ends if the data may not be saved.
var errForced = errors.New("lockredis: ended without saving the data")

// forcePatience is how long the servers have to close before the end of the process is forced.
const forcePatience = 3 * time.Second

// wait returns when the program has to end. It reports true if the data may not be saved.
func (e *ending) wait(signals <-chan os.Signal, orphaned <-chan struct{}) (forced bool) {
	for interrupted := false; ; {
		select {
		case sig := <-signals:
			e.note(sig)
			aborted := e.aborted.Swap(false)
			insists := interrupted && !aborted && sig == syscall.SIGINT
			interrupted = sig == syscall.SIGINT
			e.set.RDB.Interrupted.Store(interrupted)
			if insists {
				return true
			}
			saving := e.startSave("Received a signal, shutting down", "signal", sig)
			if saved, forced := e.savedUnless(saving, signals, orphaned); saved || forced {
				return forced
			}
			e.signal.Store(0)
		case <-orphaned:
			return !within(orphanPatience, e.startSave("The parent process has ended, shutting down"))
		}
	}
}

// orphanPatience is how long a server whose parent has ended waits for the end of a running
// script and for the save. Nothing else would end a server with an endless script.
const orphanPatience = 3 * time.Second

// savedUnless returns what done sends. forced is true if before that a SIGINT comes or the
// parent process ends. A running script keeps the save waiting, perhaps for ever.
func (e *ending) savedUnless(
	done <-chan bool, signals <-chan os.Signal, orphaned <-chan struct{},
) (saved, forced bool) {
	for {
		select {
		case saved := <-done:
			return saved, false
		case sig := <-signals:
			go e.log.Warn("Received a signal while shutting down", "signal", sig)
			if sig == syscall.SIGINT {
				return false, true
			}
		case <-orphaned:
			saved = within(orphanPatience, done)
			return saved, !saved
		}
	}
}

// within returns what done sends, false if that takes longer than the time given.
func within(patience time.Duration, done <-chan bool) bool {
	select {
	case saved := <-done:
		return saved
	case <-time.After(patience):
		return false
	}
}

// startSave logs why the program ends and calls saved, in a goroutine that sends the result.
// The log may block.
func (e *ending) startSave(why string, args ...any) <-chan bool {
	done := make(chan bool, 1)
	go func() {
		e.log.Warn(why, args...)
		e.stopping.Load().stopping()
		done <- e.saved()
	}()
	return done
}

// saved saves the data if the directives ask for that. It returns false if that fails.
func (e *ending) saved() bool {
	save := e.save.Load()
	if save == nil {
		return true
	}
	switch err := (*save)(); {
	case errors.Is(err, config.ErrShutdownAborted):
		e.aborted.Store(true)
		e.log.Warn("Shutdown manually aborted.")
		return false
	case err != nil:
		e.log.Warn("Error trying to save the DB, can't exit.", "error", err)
		return false
	}
	return true
}
