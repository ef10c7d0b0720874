package command

import (
	"context"
	"net"
	"time"
)

// Server gives facts about the process, and shuts the server down.
type Server interface {
	// Identity returns facts that cost nothing to read.
	Identity() Identity
	// Usage measures what the process uses. It takes some microseconds.
	Usage() Usage
	// Shutdown ends the server soon after the reply is written.
	Shutdown()
	// Heap returns the bytes of the heap's objects, with garbage.
	Heap() int64
	// Buffers returns the bytes that the buffers of all connections take.
	Buffers() int64
	// Traffic returns what all connections have read and written.
	Traffic() Traffic
	// Purge collects garbage and gives free memory back to the system. It takes as long as a
	// collection. It is called without the engine's lock.
	Purge()
	// Sleep blocks the engine (DEBUG SLEEP).
	Sleep(micros int64)
	// EndSleep ends a Sleep. It is called without the engine's lock.
	EndSleep()
	// Settle waits until every client that was woken, because its blocking command or a pause ended,
	// has run the commands that it had already sent. It is called without the engine's lock.
	Settle()
	// After calls do in a goroutine of its own after d of the machine's time, unless the server
	// ends before. do enters the engine by itself.
	After(d time.Duration, do func())
	// Dialer returns what connects to a primary at "host:port", with TLS if tls-replication says so. The
	// function is called without the engine's lock.
	Dialer() (dial func(ctx context.Context, addr string) (net.Conn, error), err error)
	// Send sends the commands of MIGRATE to another server and returns the lines of its
	// replies. It is called without the engine's lock, and gives up when quit is closed.
	Send(m *Migration, quit <-chan struct{}) (end Exchange, lines []string)
	// Log writes a line to the server's log.
	Log(level, msg string)
}

// Identity holds the facts that identify a server.
type Identity struct {
	RunID, ConfigFile, Executable string
	ProcessID                     int
	Port, TLSPort                 int   // of the first listener, and of the first with TLS; 0: none
	StartMillis                   int64 // Unix ms
}

// Usage is the memory and CPU time of the process, and the machine that it runs on.
type Usage struct {
	System       string // as uname names it
	Multiplexing string // what waits for sockets: "epoll"
	Monotonic    string // the clock that measures durations: "POSIX clock_gettime"
	MachineBytes int64  // of memory, 0: unknown

	Memory                   ProcessMemory
	UserMicros, SystemMicros int64 // CPU time
}

// ProcessMemory is the memory of the process in bytes.
type ProcessMemory struct {
	Heap     int64 // the objects of Go's heap, with garbage
	Active   int64 // Heap, and the free room beside its objects
	Resident int64 // all that Go has from the system and has not given back
	Process  int64 // what the process has in memory, as the system counts it
}
