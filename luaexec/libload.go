package luaexec

import (
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/lockredis/lockredis/internal/heapsize"
	"github.com/lockredis/lockredis/luaexec/lualib"
	"github.com/lockredis/lockredis/resp"
)

// parseLibraryLine reads the first line of a library, such as "#!lua name=mylib". source is
// the rest with the line's newline, to be compiled. failure is the error text, "" for none.
func parseLibraryLine(code string) (name, source, failure string) {
	line := lualib.CText(code)
	if !strings.HasPrefix(line, "#!") {
		return "", "", "ERR Missing library metadata"
	}
	end := strings.IndexByte(line, '\n')
	if end < 0 {
		return "", "", "ERR Invalid library metadata"
	}
	parts, ok := resp.SplitLine([]byte(line[:end]))
	if !ok || len(parts) == 0 {
		return "", "", "ERR Invalid library metadata"
	}
	named := false
	for _, part := range parts[1:] {
		const key = "name="
		switch text := string(part); {
		case len(text) < len(key) || !strings.EqualFold(text[:len(key)], key):
			return "", "", "ERR Invalid metadata value given: " + text
		case named:
			return "", "", "ERR Invalid metadata value, name argument was given multiple times"
		default:
			name, named = text[len(key):], true
		}
	}
	engine := string(parts[0][len("#!"):])
	switch {
	case !named:
		return "", "", "ERR Library name was not given"
	case !validName(name):
		return "", "", errNameLetters
	case !strings.EqualFold(engine, "lua"):
		return "", "", "ERR Engine '" + engine + "' not found"
	}
	return name, code[end:], ""
}

// validName reports whether a library or function may have this name.
func validName(name string) bool {
	for i := range len(name) {
		c := name[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return name != ""
}

// LoadLibrary adds the library with this source text. replace allows it to take the place
// of the library of the same name. If the library cannot be added, ok is false, failure is
// the reply of FUNCTION LOAD, and nothing has changed. The code of the library runs: its
// redis.log goes to c. c.Tick is called about every thousand instructions and ends the code
// with the error "FUNCTION LOAD timeout".
func (r *Runtime) LoadLibrary(code []byte, replace bool, h Host) (
	l *Library, failure resp.Reply, ok bool,
) {
	l, failure, ok = r.loadInto(&r.libs, string(code), replace, h)
	r.dropIdleLibraries()
	return l, failure, ok
}

// loadInto runs the code of a library and adds the library to set.
func (r *Runtime) loadInto(set *libraries, code string, replace bool, h Host) (
	l *Library, failure resp.Reply, ok bool,
) {
	refuse := func(text string) (*Library, resp.Reply, bool) {
		return nil, resp.Error(oneLine(text)), false
	}
	name, source, refusal := parseLibraryLine(code)
	if refusal != "" {
		return refuse(refusal)
	}
	old := set.byName[name]
	if old != nil && !replace {
		return refuse("ERR Library '" + name + "' already exists")
	}
	m := r.functionMachine()
	chunk, err := compile(source, libraryName, m.names, r.opts.compileMemory(source))
	if err != nil {
		return refuse("ERR Error compiling function: " + err.Error())
	}
	l = &Library{name: name, code: code, pace: max(chunk.pace, looping)}
	if text := m.loadLibrary(l, chunk, h); text != "" {
		return refuse("ERR Error registering functions: " + text)
	}
	l.size = heapsize.Pointers[Library](1) + heapsize.Text(len(code)) + heapsize.Text(len(name))
	for _, p := range chunk.proto.FunctionPrototypes { // the main function has ended
		l.codeSize += protoSize(p)
	}
	for _, f := range l.functions {
		l.size += heapsize.Pointers[Function](1) + heapsize.Text(len(f.name)) + heapsize.Text(len(f.about)) +
			heapsize.MapEntry[string, *Function]()
		l.codeSize += functionSize
	}
	if len(l.functions) == 0 {
		return refuse("ERR No functions registered")
	}
	if old != nil {
		set.unlink(old)
	}
	if clash := set.clash(l); clash != "" {
		if old != nil {
			set.link(old)
		}
		return refuse("ERR Function " + clash + " already exists")
	}
	set.link(l)
	return l, resp.NoReply, true
}

// functionMachine returns the Lua state of functions, and builds it if there is none.
func (r *Runtime) functionMachine() *machine {
	if r.libs.vm == nil {
		m := newMachine(libraryName, r.opts, r.random)
		m.loadEnv = m.newLoadEnvironment()
		r.libs.vm = m
	}
	return r.libs.vm
}

// loadLibrary runs the code of l, which registers its functions. It returns the text of the
// error that ended the code, or "".
func (m *machine) loadLibrary(l *Library, code chunk, h Host) (failure string) {
	m.loading, m.ticker.ending = &loading{l, map[string]bool{}}, errLoadTimeout
	defer func() { m.loading, m.ticker.ending = nil, errKilled }()
	var reply resp.Reply
	m.whileLoading(func() {
		m.L.Push(m.L.NewFunctionFromProto(code.proto))
		reply = m.run(task{pace: l.pace, discard: true}, h)
	})
	killed := m.ticker.killed
	m.refresh()
	if killed {
		return m.ticker.reason
	}
	if reply.IsError() {
		return reply.Text()
	}
	return ""
}

// registerFunction is redis.register_function, with a name and a function, or with a table
// of named arguments.
func (m *machine) registerFunction(L *lua.LState) int {
	if m.loading == nil {
		return throwError(L, errNotLoading, false)
	}
	f := &Function{owner: m.loading.Library, flags: Flags{HasShebang: true}}
	failure := errRegArity
	switch L.GetTop() {
	case 1:
		failure = m.namedArguments(L.Get(1), f)
	case 2:
		failure = positionalArguments(L.Get(1), L.Get(2), f)
	}
	if failure == "" {
		failure = m.loading.register(f)
	}
	if failure != "" {
		return throwError(L, failure, false)
	}
	return 0
}

// loading is the library whose code runs.
type loading struct {
	*Library
	names map[string]bool // of its functions
}

// register adds f to the library. It returns the text of an error, or "".
func (l *loading) register(f *Function) (failure string) {
	switch {
	case !validName(f.name):
		return errNameLetters
	case l.names[f.name]:
		return errRegTwice
	}
	l.names[f.name] = true
	f.simple = isSimple(f.fn)
	l.functions = append(l.functions, f)
	return ""
}

func positionalArguments(name, fn lua.LValue, f *Function) (failure string) {
	text, isText := lualib.AsString(name)
	if !isText {
		return errRegFirst
	}
	callback, isFunction := fn.(*lua.LFunction)
	if !isFunction {
		return errRegSecond
	}
	f.name, f.fn = strings.Clone(text), callback
	return ""
}

// namedArguments reads the arguments in a table. The case of their names does not count.
func (m *machine) namedArguments(v lua.LValue, f *Function) (failure string) {
	t, isTable := v.(*lua.LTable)
	if !isTable {
		return errRegTable
	}
	t, _ = m.sandbox.behind(t)
	named := false
	for key, v := t.Next(lua.LNil); key != lua.LNil; key, v = t.Next(key) {
		name, isText := lualib.AsString(key)
		if !isText {
			return errRegKey
		}
		value, isText := lualib.AsString(v)
		switch strings.ToLower(name) {
		case "function_name":
			if !isText {
				return errRegName
			}
			f.name, named = strings.Clone(value), true
		case "description":
			if !isText {
				return errRegAbout
			}
			f.about, f.described = strings.Clone(value), true
		case "callback":
			callback, isFunction := v.(*lua.LFunction)
			if !isFunction {
				return errRegCallback
			}
			f.fn = callback
		case "flags":
			if failure := m.flagList(v, &f.flags); failure != "" {
				return failure
			}
		default:
			return errRegArgument
		}
	}
	switch {
	case !named:
		return errRegNoName
	case f.fn == nil:
		return errRegNoCallback
	}
	return ""
}

// flagList reads a table of flags up to its first nil.
func (m *machine) flagList(v lua.LValue, flags *Flags) (failure string) {
	t, isTable := v.(*lua.LTable)
	if !isTable {
		return errRegFlags
	}
	for i := 1; ; i++ {
		v := t.RawGetInt(i)
		if v == lua.LNil {
			return ""
		}
		name, isText := v.(lua.LString)
		if !isText || !flags.set(strings.ToLower(string(name))) {
			return errRegFlag
		}
	}
}
