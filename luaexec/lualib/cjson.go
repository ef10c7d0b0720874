package lualib

import (
	"math"
	"strconv"

	lua "github.com/yuin/gopher-lua"
)

// cjsonVersion is the version of lua-cjson in Redis 7.0.15.
const cjsonVersion = "2.1.0"

// nullPointer is the value of the userdata cjson.null. In C that is a light userdata
// with the pointer NULL, which prints as "userdata: (nil)".
type nullPointer struct{}

// isNull reports whether v is cjson.null.
func isNull(v lua.LValue) bool {
	ud, ok := v.(*lua.LUserData)
	if !ok {
		return false
	}
	_, ok = ud.Value.(nullPointer)
	return ok
}

// cjsonLib is the settings of one cjson table. cjson.new makes another table.
type cjsonLib struct {
	null      *lua.LUserData
	maxString int
	buf       []byte // encode's buffer, reused between calls

	sparseConvert  bool
	sparseRatio    int
	sparseSafe     int
	encodeMaxDepth int
	decodeMaxDepth int
	encodeInvalid  int // 0 off, 1 on, 2 null
	decodeInvalid  int // 0 off, 1 on
	keepBuffer     int // 0 off, 1 on; has no effect
	precision      int
}

// OpenCJSON returns the table of lua-cjson 2.1.0, as Redis 7.0.15 ships it. Its settings
// last as long as the state, as in Redis. limits is optional.
//
// Differs from Redis: encode writes the keys of an object in the order of gopher-lua's
// next (array part, then insertion), not in the order of C Lua's hash table.
func OpenCJSON(L *lua.LState, limits ...Limits) *lua.LTable {
	null := L.NewUserData()
	null.Value = nullPointer{}
	return openCJSON(L, null, optionalMaxString(limits))
}

func openCJSON(L *lua.LState, null *lua.LUserData, maxString int) *lua.LTable {
	lib := &cjsonLib{
		null: null, maxString: maxString,
		sparseRatio: 2, sparseSafe: 10,
		encodeMaxDepth: 1000, decodeMaxDepth: 1000,
		decodeInvalid: 1, keepBuffer: 1, precision: 14,
	}
	t := L.CreateTable(0, 16)
	L.SetFuncs(t, map[string]lua.LGFunction{
		"encode":                  lib.encode,
		"decode":                  lib.decode,
		"encode_sparse_array":     lib.encodeSparseArray,
		"encode_max_depth":        lib.intSetting(&lib.encodeMaxDepth, math.MaxInt32),
		"decode_max_depth":        lib.intSetting(&lib.decodeMaxDepth, math.MaxInt32),
		"encode_number_precision": lib.intSetting(&lib.precision, 14),
		"encode_keep_buffer":      lib.enumSetting(&lib.keepBuffer, "off", "on"),
		"encode_invalid_numbers":  lib.enumSetting(&lib.encodeInvalid, "off", "on", "null"),
		"decode_invalid_numbers":  lib.enumSetting(&lib.decodeInvalid, "off", "on"),
		"new": func(L *lua.LState) int {
			L.Push(openCJSON(L, null, maxString))
			return 1
		},
	})
	t.RawSetString("null", null)
	t.RawSetString("_NAME", lua.LString("cjson"))
	t.RawSetString("_VERSION", lua.LString(cjsonVersion))
	return t
}

// exactArgs throws if a settings function has more than n arguments. It sets missing
// arguments to nil, so that results can be pushed after them.
func exactArgs(L *lua.LState, n int) {
	if L.GetTop() > n {
		ArgError(L, n+1, "found too many arguments")
	}
	L.SetTop(n)
}

// intSetting returns the function that gets or sets an integer from 1 to high.
func (lib *cjsonLib) intSetting(value *int, high int) lua.LGFunction {
	return func(L *lua.LState) int {
		exactArgs(L, 1)
		setInt(L, 1, value, 1, high)
		return 1
	}
}

// setInt sets *value to the n-th argument, unless that is nil, and pushes *value. If
// the argument is out of range, the error names the first argument, as in cjson.
func setInt(L *lua.LState, n int, value *int, low, high int) {
	if L.Get(n) != lua.LNil {
		v := checkInt(L, n)
		if v < low || v > high {
			ArgError(L, 1, "expected integer between "+strconv.Itoa(low)+" and "+strconv.Itoa(high))
		}
		*value = v
	}
	L.Push(lua.LNumber(*value))
}

// enumSetting returns the function that gets or sets one of options.
func (lib *cjsonLib) enumSetting(value *int, options ...string) lua.LGFunction {
	return func(L *lua.LState) int {
		exactArgs(L, 1)
		setEnum(L, 1, value, options)
		return 1
	}
}

// setEnum sets *value to the index of the option that the n-th argument names, unless
// that is nil, and pushes the option. false and true stand for the first two options.
func setEnum(L *lua.LState, n int, value *int, options []string) {
	switch v := L.Get(n).(type) {
	case *lua.LNilType:
	case lua.LBool:
		*value = 0
		if v {
			*value = 1
		}
	default:
		*value = CheckOption(L, n, options)
	}
	if *value < 2 {
		L.Push(lua.LBool(*value == 1))
		return
	}
	L.Push(lua.LString(options[*value]))
}

// CheckOption returns the index of the option that the n-th argument names. It throws
// if there is none.
func CheckOption(L *lua.LState, n int, options []string) int {
	s := CheckString(L, n)
	for i, o := range options {
		if o == s {
			return i
		}
	}
	ArgError(L, n, "invalid option '"+s+"'")
	return 0
}

func (lib *cjsonLib) encodeSparseArray(L *lua.LState) int {
	exactArgs(L, 3)
	convert := 0
	if lib.sparseConvert {
		convert = 1
	}
	setEnum(L, 1, &convert, []string{"off", "on"})
	lib.sparseConvert = convert == 1
	setInt(L, 2, &lib.sparseRatio, 0, math.MaxInt32)
	setInt(L, 3, &lib.sparseSafe, 0, math.MaxInt32)
	return 3
}
