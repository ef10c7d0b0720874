package lualib

import (
	"math"

	lua "github.com/yuin/gopher-lua"
)

const radiansPerDegree = math.Pi / 180

func patchMath(L *lua.LState) {
	t := library(L, "math")
	negNaN := math.Copysign(math.NaN(), -1)
	for name, f := range map[string]func(float64) float64{
		"acos": math.Acos, "asin": math.Asin, "atan": math.Atan, "ceil": math.Ceil, "cos": math.Cos,
		"cosh": math.Cosh, "exp": exp, "floor": math.Floor, "log": log, "log10": log10,
		"sin": math.Sin, "sinh": math.Sinh, "sqrt": math.Sqrt, "tan": math.Tan, "tanh": math.Tanh,
		"deg": func(x float64) float64 { return x / radiansPerDegree },
		"rad": func(x float64) float64 { return x * radiansPerDegree },
	} {
		invalid := negNaN
		if name == "acos" || name == "asin" || name == "log10" {
			invalid = math.NaN()
		}
		t.RawSetString(name, L.NewFunction(func(L *lua.LState) int {
			x := checkNumber(L, 1)
			L.Push(lua.LNumber(sameNaN(f(x), x, invalid)))
			return 1
		}))
	}
	for name, f := range map[string]func(x, y float64) float64{
		"atan2": math.Atan2, "fmod": math.Mod, "mod": math.Mod,
	} {
		t.RawSetString(name, L.NewFunction(func(L *lua.LState) int {
			y := checkNumber(L, 2) // first, as in C: the order decides which error is thrown
			x := checkNumber(L, 1)
			invalid := negNaN
			if y != y {
				invalid = y
			}
			L.Push(lua.LNumber(sameNaN(f(x, y), x, invalid)))
			return 1
		}))
	}
	L.SetFuncs(t, map[string]lua.LGFunction{
		"abs":   mathAbs,
		"frexp": mathFrexp,
		"ldexp": mathLdexp,
		"max":   mathMax,
		"min":   mathMin,
		"modf":  mathModf,
		"pow":   mathPow,
	})
	t.RawSetString("huge", lua.LNumber(math.Inf(1)))
	t.RawSetString("pi", lua.LNumber(math.Pi))
}

// sameNaN returns result, or if it is NaN, a NaN with the sign of glibc on x86-64:
// the sign of the argument x if that is NaN, else the sign of invalid. tostring
// shows the sign. The sign of Go's NaN results differs.
func sameNaN(result, x, invalid float64) float64 {
	switch {
	case result == result:
		return result
	case x != x:
		return x
	}
	return invalid
}

func mathPow(L *lua.LState) int {
	y := checkNumber(L, 2) // first, as in C
	x := checkNumber(L, 1)
	L.Push(lua.LNumber(Pow(x, y)))
	return 1
}

func mathAbs(L *lua.LState) int {
	L.Push(lua.LNumber(math.Abs(checkNumber(L, 1))))
	return 1
}

func mathFrexp(L *lua.LState) int {
	frac, exp := math.Frexp(checkNumber(L, 1))
	L.Push(lua.LNumber(frac))
	L.Push(lua.LNumber(exp))
	return 2
}

func mathLdexp(L *lua.LState) int {
	exp := checkInt(L, 2)
	L.Push(lua.LNumber(math.Ldexp(checkNumber(L, 1), exp)))
	return 1
}

func mathModf(L *lua.LState) int {
	x := checkNumber(L, 1)
	whole, frac := math.Modf(x)
	if math.IsInf(x, 0) {
		frac = math.Copysign(0, x)
	}
	L.Push(lua.LNumber(whole))
	L.Push(lua.LNumber(frac))
	return 2
}

func mathMax(L *lua.LState) int {
	best := checkNumber(L, 1)
	for i := 2; i <= L.GetTop(); i++ {
		if x := checkNumber(L, i); x > best {
			best = x
		}
	}
	L.Push(lua.LNumber(best))
	return 1
}

func mathMin(L *lua.LState) int {
	best := checkNumber(L, 1)
	for i := 2; i <= L.GetTop(); i++ {
		if x := checkNumber(L, i); x < best {
			best = x
		}
	}
	L.Push(lua.LNumber(best))
	return 1
}
