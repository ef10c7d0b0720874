package program

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"

	"github.com/lockredis/lockredis/internal/config"
)

// ending is how the program learns that it has to end, and saves its data before.
type ending struct {
	set  *config.Config
	log  *slog.Logger
	save atomic.Pointer[func() error] // nil until the server has started
}

// await returns a context that a signal or the end of the parent process ends. A signal
// does not end it if the data cannot be saved, as in Redis; a second SIGINT does.
func (e *ending) await() (context.Context, error) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	orphaned, err := watchParent(e.set)
	if err != nil {
		return nil, fmt.Errorf("lockredis: exit-with-parent: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		defer cancel()
		for interrupted := false; ; {
			select {
			case sig := <-signals:
				e.log.Warn("Received a signal, shutting down", "signal", sig)
				insists := interrupted && sig == syscall.SIGINT
				interrupted = sig == syscall.SIGINT
				e.set.RDB.Interrupted.Store(interrupted)
				if insists || e.saved() {
					return
				}
			case <-orphaned:
				e.log.Warn("The parent process has ended, shutting down")
				e.saved()
				return
			}
		}
	}()
	return ctx, nil
}

// saved saves the data if the directives ask for that. It returns false if that fails.
func (e *ending) saved() bool {
	save := e.save.Load()
	if save == nil {
		return true
	}
	if err := (*save)(); err != nil {
		e.log.Warn("Error trying to save the DB, can't exit.", "error", err)
		return false
	}
	return true
}
