package luaexec

import (
	"crypto/sha1"
	"encoding/hex"

	"github.com/lockredis/lockredis/resp"
)

// Caller is what a running script needs from above. Its methods are called on
// the goroutine that called Run, and only while Run is running.
type Caller interface {
	// Call runs one command for the script. All checks are its business:
	// unknown commands, arity, commands that scripts may not use, writes from
	// read-only scripts. The arguments are valid until it returns; the reply
	// may alias memory that the next Call changes.
	Call(args resp.Args) resp.Reply
	// SetProtocol is redis.setresp: commands answer in RESP version v from now on.
	SetProtocol(v int)
	// Allowed is redis.acl_check_cmd. known is false when there is no such
	// command or its arity is wrong.
	Allowed(args resp.Args) (ok, known bool)
	// Log is redis.log with a level from 0 (debug) to 3 (warning). msg is valid
	// until it returns.
	Log(level int, msg string)
	// Tick is the safe point of scripts that can loop, reached about every
	// thousand Lua instructions; true kills the script.
	Tick() (kill bool)
}

// Options configures a Runtime.
type Options struct {
	// Version is redis.REDIS_VERSION, "major.minor.patch".
	Version string
	// MaxString is the longest string in bytes that a script can build; zero
	// means 512 MB. A result above it is an error in the script.
	MaxString int
	// Growth returns by how many bytes a script may make Go's heap grow, of which
	// heap bytes are in use. It is asked once for each script that takes much or
	// long. nil means 1 GB.
	Growth func(heap uint64) uint64
	// OnPanic is told of a panic inside the Lua machine or a library function,
	// with the panic's value, or its text, and its stack. The run answers with
	// an internal error. nil means that nobody wants to know.
	OnPanic func(cause any, stack []byte)
}

// Runtime is a server's script cache and its Lua state. One exists per server,
// for all databases. It is used under the engine's lock, by one goroutine at a
// time.
type Runtime struct {
	opts    Options
	scripts map[digest]*Script
	byBody  map[string]*Script // the same scripts, so that EVAL needs no SHA-1
	bytes   int
	vm      *machine // nil before the first run and after a state was dropped
}

type digest [sha1.Size]byte

// New returns a runtime with an empty cache. The Lua state is built when it is
// first needed.
func New(opts Options) *Runtime {
	r := &Runtime{opts: opts}
	r.Flush()
	return r
}

// Load returns the script with this body, from the cache or compiled and then
// cached. When it does not compile, ok is false and failure is the reply EVAL
// and SCRIPT LOAD answer with; nothing is cached. The body is copied.
func (r *Runtime) Load(body []byte) (s *Script, failure resp.Reply, ok bool) {
	if s, ok := r.byBody[string(body)]; ok {
		return s, resp.NoReply, true
	}
	s, failure, ok = compileScript(string(body), r.machine().isBound, r.opts)
	if !ok {
		return nil, failure, false
	}
	r.scripts[s.digest] = s
	r.byBody[s.body] = s
	r.bytes += s.size()
	return s, resp.NoReply, true
}

// machine returns the Lua state, built if there is none.
func (r *Runtime) machine() *machine {
	if r.vm == nil {
		r.vm = newMachine(r.opts)
	}
	return r.vm
}

// dropMachine lets go of the Lua state, and of all that it holds.
func (r *Runtime) dropMachine() {
	if r.vm == nil {
		return
	}
	for _, s := range r.vm.scripts {
		s.fn, s.owner = nil, nil
	}
	r.vm = nil
}

// Lookup finds a cached script by its 40 hexadecimal digits in either case.
func (r *Runtime) Lookup(sha []byte) (*Script, bool) {
	var d digest
	if len(sha) != hex.EncodedLen(len(d)) {
		return nil, false
	}
	if _, err := hex.Decode(d[:], sha); err != nil {
		return nil, false
	}
	s, ok := r.scripts[d]
	return s, ok
}

// Exists reports whether Lookup would find a script.
func (r *Runtime) Exists(sha []byte) bool {
	_, ok := r.Lookup(sha)
	return ok
}

// Flush empties the cache and drops the Lua state with what it holds. It must
// not be called while a script runs.
func (r *Runtime) Flush() {
	r.scripts = make(map[digest]*Script)
	r.byBody = make(map[string]*Script)
	r.bytes = 0
	r.dropMachine()
}

// Len returns the number of cached scripts.
func (r *Runtime) Len() int { return len(r.scripts) }

// MemoryUsed returns an estimate, in bytes, of what the cache holds.
func (r *Runtime) MemoryUsed() int { return r.bytes }

// Close drops everything. The runtime may be used again and starts empty.
func (r *Runtime) Close() { r.Flush() }
