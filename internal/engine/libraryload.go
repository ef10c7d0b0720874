package engine

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/luaexec"
	"github.com/lockredis/lockredis/resp"
)

const (
	// loadMillis is how long the code of a library may run while it is loaded, as in Redis.
	loadMillis = 500
	// loadTicks is the same limit in safe points, for a clock that stands still. A safe
	// point comes about every thousand instructions, so the code has run for seconds.
	loadTicks = 100_000
)

// loadingRun is the luaexec.Host of one library's code. That code calls no commands. No
// other unit runs meanwhile, and only the limits end the code.
type loadingRun struct {
	e       *Engine
	started int64 // Unix µs, at the first safe point; compiling does not count
	ticks   int
}

// Loader returns the host for the code of one library that is loaded.
func (r *scriptRun) Loader() luaexec.Host {
	return &loadingRun{e: r.e}
}

func (l *loadingRun) Command(resp.Args) resp.Reply       { return errScriptNoScript }
func (l *loadingRun) SetProtocol(int)                    {}
func (l *loadingRun) SetTold(bool)                       {}
func (l *loadingRun) Allowed(resp.Args) (ok, known bool) { return false, false }
func (l *loadingRun) Log(level int, msg string)          { l.e.script.Log(level, msg) }

// Tick is a safe point. It reports whether the code must end.
func (l *loadingRun) Tick() (kill bool) {
	now := l.e.clock.Now().UnixMicro()
	if l.ticks++; l.ticks == 1 {
		l.started = now
	}
	return l.e.interrupted.Load() || l.ticks > loadTicks || now-l.started > loadMillis*1000
}

var _ command.ScriptRunner = (*scriptRun)(nil)
