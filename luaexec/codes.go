package luaexec

import (
	lua "github.com/yuin/gopher-lua"

	"github.com/lockredis/lockredis/internal/shrink"
	"github.com/lockredis/lockredis/resp"
)

// mostCode is how many bytes the code of all scripts may take. A client that puts values into the
// texts of its scripts makes a new one each time, and the cache never forgets a script. Code
// takes four times as much as its text, and compiling takes as long as a thousand runs: so this is
// far more than scripts need that run in turn.
const mostCode = 64 << 20

// machineBytes is what a Lua state takes: by measurement, mostly the stack of calls and the
// registers.
const machineBytes = 1_780_000

// VMMemory estimates the bytes of the code and the Lua states of scripts and of functions. Redis
// does not count them against maxmemory.
func (r *Runtime) VMMemory() (scripts, functions int) {
	scripts, functions = r.codes.bytes, r.libs.code
	if r.vm != nil {
		scripts += machineBytes
	}
	if r.libs.vm != nil {
		functions += machineBytes
	}
	return scripts, functions
}

// codes are the scripts whose code is kept. Code that has not run for long is dropped first: a hand
// goes round, spares what has run since it came by, and takes the rest.
type codes struct {
	ring  []*Script
	hand  int
	bytes int // estimated size
}

// add adds a script that was just compiled, and drops the code of others if there is too much.
func (c *codes) add(s *Script) {
	c.ring = append(c.ring, s)
	c.bytes += s.bytes
	for c.bytes > mostCode && len(c.ring) > 1 {
		if c.hand >= len(c.ring) {
			c.hand = 0
		}
		old := c.ring[c.hand]
		if old == s || old.used {
			old.used = false
			c.hand++
			continue
		}
		c.bytes -= old.bytes
		old.proto, old.fn, old.owner = nil, nil, nil
		last := len(c.ring) - 1
		c.ring[c.hand] = c.ring[last]
		c.ring = shrink.Pop(c.ring)
	}
}

// functionOf returns s as a function of m's Lua state. It compiles s if its code was dropped. s has
// compiled before, so that needs no limit.
func (r *Runtime) functionOf(s *Script, m *machine) (fn *lua.LFunction, failure resp.Reply, ok bool) {
	s.used = true
	if s.proto == nil {
		again, _, failure, ok := compileBody(s.body, m.names, Options{})
		if !ok {
			return nil, failure, false
		}
		s.proto = again.proto
		r.codes.add(s)
	}
	if s.owner != m {
		s.fn, s.owner = m.L.NewFunctionFromProto(s.proto), m
	}
	return s.fn, failure, true
}
