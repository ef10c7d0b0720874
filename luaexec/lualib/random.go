package lualib

import (
	"math"

	lua "github.com/yuin/gopher-lua"
)

// Random is the generator of math.random: the 48-bit linear congruence of lrand48.
// Redis has its own copy, so that a seed gives the same numbers on every machine. In
// Redis 7.0 all scripts of a server share one sequence; a script that needs its own
// calls math.randomseed. Random has no lock: the caller must guard it together with
// the states that share it.
type Random struct{ x uint64 }

const (
	rand48Start      = 0x1234ABCD330E
	rand48Multiplier = 0x5DEECE66D
	rand48Increment  = 0xB
	rand48Mask       = 1<<48 - 1
	rand48Low        = 0x330E
)

// NewRandom returns the generator of a redis-server that has just started.
func NewRandom() *Random { return &Random{x: rand48Start} }

// Seed starts the sequence of math.randomseed(seed).
func (r *Random) Seed(seed int32) { r.x = uint64(uint32(seed))<<16 | rand48Low }

// next returns a number from 0 up to 1; 0 is possible, 1 is not.
func (r *Random) next() float64 {
	r.x = (r.x*rand48Multiplier + rand48Increment) & rand48Mask
	return float64(int64(r.x>>17)%math.MaxInt32) / math.MaxInt32
}

// SetRandom makes math.random and math.randomseed of L use r. So a sequence can
// outlive L, and several states can share it. It panics if L has no math library.
func SetRandom(L *lua.LState, r *Random) {
	L.SetFuncs(library(L, "math"), map[string]lua.LGFunction{
		"random": r.random,
		"randomseed": func(L *lua.LState) int {
			r.Seed(int32(checkInt(L, 1)))
			return 0
		},
	})
}

// random is math.random. It draws a number before it checks its arguments, as Redis
// does: a call that throws advances the sequence too.
func (r *Random) random(L *lua.LState) int {
	x := r.next()
	switch L.GetTop() {
	case 0:
	case 1:
		high := checkInt(L, 1)
		if high < 1 {
			ArgError(L, 1, "interval is empty")
		}
		x = math.Floor(x*float64(high)) + 1
	case 2:
		low, high := checkInt(L, 1), checkInt(L, 2)
		if low > high {
			ArgError(L, 2, "interval is empty")
		}
		// The width wraps around like C's int.
		x = math.Floor(x*float64(int32(high-low+1))) + float64(low)
	default:
		Raise(L, "wrong number of arguments")
	}
	L.Push(lua.LNumber(x))
	return 1
}
