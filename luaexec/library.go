package luaexec

import (
	"slices"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// Library is a loaded library of functions. It does not change.
type Library struct {
	name      string
	code      string
	pace      pace        // of its code and its functions, but for simple ones
	functions []*Function // in the order of their registration
	size      int         // estimated bytes without the code
	codeSize  int         // estimated bytes of the code
}

// Name returns the library's name.
func (l *Library) Name() string { return l.name }

// Code returns the source text with its first line.
func (l *Library) Code() string { return l.code }

// Functions returns the library's functions in the order of their registration.
func (l *Library) Functions() []*Function { return l.functions }

// Function is a function of a library, for FCALL.
type Function struct {
	owner     *Library
	name      string
	about     string
	described bool
	flags     Flags
	fn        *lua.LFunction
	// simple means that the function cannot run long and keeps nothing for the next call.
	simple bool
}

// Name returns the function's name as it was registered.
func (f *Function) Name() string { return f.name }

// Description returns the function's description. ok is false if there is none.
func (f *Function) Description() (text string, ok bool) { return f.about, f.described }

// Flags returns the function's flags. A function is like a script with a shebang line:
// HasShebang is true.
func (f *Function) Flags() Flags { return f.flags }

// Library returns the library that the function belongs to.
func (f *Function) Library() *Library { return f.owner }

// libraries is a set of libraries, and the Lua state of their functions. The state is
// another one than the scripts': a library may keep values from call to call, and scripts'
// state is dropped from time to time.
type libraries struct {
	byName map[string]*Library
	// functions has the functions of all libraries by their names in lower case.
	functions map[string]*Function
	bytes     int      // estimated size without the code
	code      int      // estimated size of the code
	vm        *machine // nil while there are no libraries
}

func newLibraries(vm *machine) libraries {
	return libraries{byName: map[string]*Library{}, functions: map[string]*Function{}, vm: vm}
}

// clash returns the name of a function of l that another library has, or "".
func (s *libraries) clash(l *Library) string {
	for _, f := range l.functions {
		if _, taken := s.functions[strings.ToLower(f.name)]; taken {
			return f.name
		}
	}
	return ""
}

// link adds l. Of two functions whose names differ only in case the first is found.
func (s *libraries) link(l *Library) {
	s.byName[l.name] = l
	s.bytes += l.size
	s.code += l.codeSize
	for _, f := range l.functions {
		key := strings.ToLower(f.name)
		if _, taken := s.functions[key]; !taken {
			s.functions[key] = f
		}
	}
}

// unlink removes l.
func (s *libraries) unlink(l *Library) {
	delete(s.byName, l.name)
	s.bytes -= l.size
	s.code -= l.codeSize
	for _, f := range l.functions {
		delete(s.functions, strings.ToLower(f.name))
	}
}

// sorted returns the libraries in the order of their names.
func (s *libraries) sorted() []*Library {
	all := make([]*Library, 0, len(s.byName))
	for _, l := range s.byName {
		all = append(all, l)
	}
	slices.SortFunc(all, func(a, b *Library) int { return strings.Compare(a.name, b.name) })
	return all
}

// Function finds a function by its name in either case. It does not allocate for a name of
// up to 64 bytes.
func (r *Runtime) Function(name []byte) (f *Function, ok bool) {
	if f, ok := r.libs.functions[string(name)]; ok {
		return f, true
	}
	var short [64]byte
	lower := short[:0]
	for _, c := range name {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		lower = append(lower, c)
	}
	f, ok = r.libs.functions[string(lower)]
	return f, ok
}

// Libraries returns the libraries in the order of their names.
func (r *Runtime) Libraries() []*Library { return r.libs.sorted() }

// LibraryCodes returns the source texts of the libraries in the order of their names.
func (r *Runtime) LibraryCodes() []string {
	libraries := r.libs.sorted()
	codes := make([]string, len(libraries))
	for i, l := range libraries {
		codes[i] = l.code
	}
	return codes
}

// DeleteLibrary removes a library. It reports whether there was one. It must not be called
// while a function runs.
func (r *Runtime) DeleteLibrary(name string) bool {
	l, ok := r.libs.byName[name]
	if ok {
		r.libs.unlink(l)
		r.dropIdleLibraries()
	}
	return ok
}

// FlushLibraries removes all libraries. It must not be called while a function runs.
func (r *Runtime) FlushLibraries() { r.libs = newLibraries(nil) }

// dropIdleLibraries drops the Lua state of functions if there are no libraries.
func (r *Runtime) dropIdleLibraries() {
	if len(r.libs.byName) == 0 {
		r.FlushLibraries()
	}
}

// FunctionCounts returns the number of libraries, of the functions that FCALL finds, and of
// the functions that the libraries have registered.
func (r *Runtime) FunctionCounts() (libraries, callable, registered int) {
	for _, l := range r.libs.byName {
		registered += len(l.functions)
	}
	return len(r.libs.byName), len(r.libs.functions), registered
}

// FunctionMemory returns the estimated size of the libraries without their code, in bytes.
func (r *Runtime) FunctionMemory() int { return r.libs.bytes }
