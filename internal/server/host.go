package server

import (
	"context"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/lockredis/lockredis/internal/collector"
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/config"
)

// host is the server as command.Server.
type host Server

// Identity returns the facts that identify this server.
func (h *host) Identity() command.Identity {
	executable, _ := os.Executable()
	port, tlsPort := int(h.port.Load()), int(h.tlsPort.Load())
	if port == 0 {
		port = tlsPort
	}
	return command.Identity{
		RunID: h.runID, ConfigFile: h.cfg.File, Executable: executable,
		ProcessID: os.Getpid(), Port: port, TLSPort: tlsPort,
		StartMillis: h.started.UnixMilli(),
	}
}

// Usage measures the memory and CPU time of the process.
func (h *host) Usage() command.Usage {
	userMicros, systemMicros := cpuMicros()
	return command.Usage{
		UserMicros: userMicros, SystemMicros: systemMicros, Memory: processMemoryFigures(),
		MachineBytes: installedMemory(), System: systemName(),
		Multiplexing: multiplexing(), Monotonic: monotonic(),
	}
}

// multiplexing returns the name of the system's interface that waits for sockets. Go's poller
// uses the same.
func multiplexing() string {
	switch runtime.GOOS {
	case "linux":
		return "epoll"
	case "windows":
		return "iocp"
	}
	return "kqueue"
}

// monotonic returns the name of the clock that Go's monotonic times come from.
func monotonic() string {
	switch runtime.GOOS {
	case "darwin":
		return "mach_absolute_time"
	case "windows":
		return "interrupt time"
	}
	return "POSIX clock_gettime"
}

// Shutdown closes the listeners and calls Options.OnShutdown in a goroutine, once. As in Redis,
// nothing listens any more when the client of SHUTDOWN sees that its connection has ended.
func (h *host) Shutdown() {
	if h.onQuit != nil && !h.quitting.Swap(true) {
		(*Server)(h).stopListening()
		go h.onQuit()
	}
}

// Heap returns the bytes of the heap's objects, with garbage.
func (h *host) Heap() int64 { return int64(collector.Size()) }

// Purge collects garbage and gives free memory back to the system.
func (h *host) Purge() { debug.FreeOSMemory() }

// Sleep blocks the engine, until Close, Drain or EndSleep is called.
func (h *host) Sleep(micros int64) {
	const longest = math.MaxInt64 / int64(time.Microsecond)
	timer := time.NewTimer(time.Duration(min(micros, longest)) * time.Microsecond)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-h.ending:
	case <-h.awake:
	}
}

// Settle waits until every woken connection has run its buffered commands.
func (h *host) Settle() { (*Server)(h).Settle() }

// EndSleep ends a Sleep, as a signal does in Redis.
func (h *host) EndSleep() {
	select {
	case h.awake <- struct{}{}:
	default: // nothing sleeps
	}
}

// After calls do in a goroutine of its own after d. Close stops what has not begun, and waits for
// what has.
func (h *host) After(d time.Duration, do func()) { h.timers.after(d, do) }

// Log writes a line to the server's log. level is one of Redis's names.
func (h *host) Log(level, msg string) {
	l, _ := config.LogLevel(level)
	h.log.Log(context.Background(), l, msg)
}
