package program

import (
	"context"
	"log/slog"
	"os"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockredis/lockredis/internal/config"
)

// stuckLog is a log that has no reader until it is closed.
type stuckLog chan struct{}

func (l stuckLog) Enabled(context.Context, slog.Level) bool  { return true }
func (l stuckLog) Handle(context.Context, slog.Record) error { <-l; return nil }
func (l stuckLog) WithAttrs([]slog.Attr) slog.Handler        { return l }
func (l stuckLog) WithGroup(string) slog.Handler             { return l }

func TestASIGINTEndsTheProgramWhoseLogBlocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := make(stuckLog)
		defer close(log)
		forcesTheEnd(t, 1, slog.New(log), syscall.SIGTERM, syscall.SIGINT)
	})
}

func TestASIGTERMEndsTheProgramThatCannotStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		forcesTheEnd(t, 0, slog.New(slog.DiscardHandler), syscall.SIGTERM)
	})
}

func TestASIGINTAfterASignalEndsTheProgramThatCannotStartAtOnce(t *testing.T) {
	for _, first := range []os.Signal{syscall.SIGINT, syscall.SIGTERM} {
		synctest.Test(t, func(t *testing.T) {
			code := make(chan int, 2)
			log := slog.New(slog.DiscardHandler)
			e := &ending{set: config.New(), log: log, exit: func(c int) { code <- c }}
			signals := make(chan os.Signal, 3)
			signals <- first
			e.watch(signals, nil)
			signals <- syscall.SIGTERM
			signals <- syscall.SIGINT
			close(signals)
			synctest.Wait()
			select {
			case got := <-code:
				if got != 1 {
					t.Errorf("%v, SIGINT: the process ended with %d", first, got)
				}
			default:
				t.Errorf("%v, SIGINT: the process has not ended", first)
			}
			<-time.After(forcePatience) // the timer ends in the bubble
		})
	}
}

// forcesTheEnd fails the test unless the signals end a process with this code whose servers do
// not start or do not close.
func forcesTheEnd(t *testing.T, want int32, log *slog.Logger, received ...os.Signal) {
	var code atomic.Int32 // a timer's goroutine writes it
	code.Store(-1)
	e := &ending{set: config.New(), log: log, exit: func(c int) { code.Store(int32(c)) }}
	signals := make(chan os.Signal, len(received))
	for _, sig := range received {
		signals <- sig
	}
	defer close(signals)
	e.watch(signals, nil)
	<-time.After(forcePatience - 1)
	if synctest.Wait(); code.Load() != -1 {
		t.Errorf("the process ended early, with %d", code.Load())
	}
	<-time.After(1)
	if synctest.Wait(); code.Load() != want {
		t.Errorf("the process ended with %d", code.Load())
	}
}
