package luaexec

import (
	"crypto/sha1"

	"github.com/lockredis/lockredis/luaexec/lualib"
	"github.com/lockredis/lockredis/resp"
)

// Host runs the commands of a script. Run calls its methods, on its own
// goroutine.
type Host interface {
	// Command runs one command for the script. It makes all checks: unknown
	// commands, arity, commands that scripts must not use, writes from read-only
	// scripts. The arguments are valid until it returns. The reply may alias
	// memory that the next Command changes.
	Command(args resp.Args) resp.Reply
	// SetProtocol is redis.setresp: later calls of Command reply in RESP version v.
	SetProtocol(v int)
	// SetTold is redis.set_repl: whether replicas are told of later calls of Command.
	SetTold(told bool)
	// Allowed is redis.acl_check_cmd. known is false if the command does not exist
	// or its arity is wrong.
	Allowed(args resp.Args) (ok, known bool)
	// Log is redis.log with a level from 0 (debug) to 3 (warning). msg is valid
	// until it returns.
	Log(level int, msg string)
	// Tick is called at each safe point: every 500 rounds of loops and calls of
	// a script that can loop, and in long library calls. true kills the script.
	Tick() (kill bool)
}

// Options configures a Runtime.
type Options struct {
	// Version is redis.REDIS_VERSION, "major.minor.patch".
	Version string
	// Valkey is the version of Valkey that scripts see in the table server, which then is
	// another name of redis; "": there is no such table.
	Valkey string
	// MaxString is the length in bytes of the longest string that a script can
	// build; zero means 512 MB. A longer result is an error in the script.
	MaxString int
	// Growth returns the number of bytes by which a script may make Go's heap grow.
	// heap is the heap's size in bytes. Growth is called for a script that
	// allocates much or runs long, and for a long source that is compiled. nil
	// means 1 GB.
	Growth func(heap uint64) uint64
	// OnPanic is called for a panic inside the Lua machine, a library function or a
	// command, with the panic's value, or its text, and the stack. The reply of the
	// run is an internal error. nil means that panics are not reported.
	OnPanic func(cause any, stack []byte)
}

// Runtime is a server's script cache and its Lua state. A server has one, for all
// databases. Only one goroutine at a time may use it: in the server, the goroutine
// that has the engine's lock.
type Runtime struct {
	opts    Options
	scripts map[string]*Script // by SHA
	byBody  map[string]*Script // the same scripts, so that EVAL needs no SHA-1
	bytes   int                // estimated size of the scripts without their code
	codes   codes
	vm      *machine       // nil until it is needed, and after it was dropped
	random  *lualib.Random // of all scripts and functions, as in Redis
	libs    libraries
}

// New returns a runtime with an empty cache. It builds the Lua state when the first
// script is loaded.
func New(opts Options) *Runtime {
	r := &Runtime{opts: opts, random: lualib.NewRandom()}
	r.Flush()
	r.FlushLibraries()
	return r
}

// TickSoon makes the running script or function pass a safe point at its next call or
// round of a loop, unless it cannot loop. Host.Command calls it.
func (r *Runtime) TickSoon() {
	for _, m := range []*machine{r.vm, r.libs.vm} {
		if m != nil {
			m.ticker.rush()
		}
	}
}

// Load returns the script with this body, from the cache or compiled. It caches a
// compiled script. If the body does not compile, ok is false and failure is the
// reply of EVAL and SCRIPT LOAD. The body is copied.
func (r *Runtime) Load(body []byte) (s *Script, failure resp.Reply, ok bool) {
	if s, ok := r.byBody[string(body)]; ok {
		return s, resp.NoReply, true
	}
	s, failure, ok = compileScript(string(body), r.machine().names, r.opts)
	if !ok {
		return nil, failure, false
	}
	r.scripts[s.sha] = s
	r.byBody[s.body] = s
	r.bytes += s.textSize()
	r.codes.add(s)
	return s, resp.NoReply, true
}

// machine returns the Lua state, and builds it if there is none.
func (r *Runtime) machine() *machine {
	if r.vm == nil {
		r.vm = newMachine(scriptName, r.opts, r.random)
	}
	return r.vm
}

// dropMachine drops the Lua state, and the functions that scripts have of it.
func (r *Runtime) dropMachine() {
	if r.vm == nil {
		return
	}
	for _, s := range r.codes.ring {
		s.fn, s.owner = nil, nil
	}
	r.vm = nil
}

// Lookup finds a cached script by its 40 hexadecimal digits in either case.
func (r *Runtime) Lookup(sha []byte) (*Script, bool) {
	if s, ok := r.scripts[string(sha)]; ok {
		return s, true
	}
	var lower [2 * sha1.Size]byte
	if len(sha) != len(lower) {
		return nil, false
	}
	for i, c := range sha {
		if 'A' <= c && c <= 'F' {
			c += 'a' - 'A'
		}
		lower[i] = c
	}
	s, ok := r.scripts[string(lower[:])]
	return s, ok
}

// Exists reports whether Lookup would find a script.
func (r *Runtime) Exists(sha []byte) bool {
	_, ok := r.Lookup(sha)
	return ok
}

// Flush empties the cache and drops the Lua state of scripts. Libraries stay. It must
// not be called while a script runs.
func (r *Runtime) Flush() {
	r.scripts = make(map[string]*Script)
	r.byBody = make(map[string]*Script)
	r.dropMachine()
	r.bytes, r.codes = 0, codes{}
}

// Len returns the number of cached scripts.
func (r *Runtime) Len() int { return len(r.scripts) }

// MemoryUsed returns the estimated size of the cached scripts without their code, in bytes.
func (r *Runtime) MemoryUsed() int { return r.bytes }

// Close is Flush and FlushLibraries. The runtime can still be used.
func (r *Runtime) Close() {
	r.Flush()
	r.FlushLibraries()
}
