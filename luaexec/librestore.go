package luaexec

import "github.com/lockredis/lockredis/resp"

// Restore collects libraries that are added together: all or none.
type Restore struct {
	r     *Runtime
	added libraries
}

// Restore returns an empty Restore. No library may be loaded or deleted until its Commit.
func (r *Runtime) Restore() *Restore { return &Restore{r, newLibraries(nil)} }

// Load loads a library as LoadLibrary does, beside the other libraries of the Restore.
func (s *Restore) Load(code string, h Host) (failure resp.Reply, ok bool) {
	_, failure, ok = s.r.loadInto(&s.added, code, false, h)
	if !ok {
		s.r.dropIdleLibraries()
	}
	return failure, ok
}

// Commit adds the libraries to the runtime's. replace allows them to take the place of
// libraries with the same names; flush removes all others. If ok is false, failure is the
// reply of FUNCTION RESTORE, and nothing has changed.
func (s *Restore) Commit(replace, flush bool) (failure resp.Reply, ok bool) {
	defer s.r.dropIdleLibraries()
	joined := newLibraries(s.r.libs.vm)
	for _, old := range s.r.libs.sorted() {
		switch _, again := s.added.byName[old.name]; {
		case flush:
		case !again:
			joined.link(old)
		case !replace:
			return resp.Error("ERR Library " + old.name + " already exists"), false
		}
	}
	for _, l := range s.added.sorted() {
		if name := joined.clash(l); name != "" {
			return resp.Error("ERR Function " + name + " already exists"), false
		}
		joined.link(l)
	}
	s.r.libs = joined
	return resp.NoReply, true
}
