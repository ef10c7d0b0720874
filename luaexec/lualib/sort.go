package lualib

import lua "github.com/yuin/gopher-lua"

// sorter sorts a table in place with C Lua 5.1's quicksort. It makes the same
// comparisons in the same order, because a script can see them: in the positions of
// equal elements, in the calls of its order function, and in whether an invalid
// order function is detected.
type sorter struct {
	L    *lua.LState
	t    *lua.LTable
	less *lua.LFunction // nil for <
	lib  *tableLib
}

func (lib *tableLib) sort(L *lua.LState) int {
	s := sorter{L: L, t: CheckTable(L, 1), lib: lib}
	n := s.t.Len()
	if L.Get(2) != lua.LNil {
		s.less = CheckFunction(L, 2)
	}
	s.sort(1, n)
	return 0
}

func (s *sorter) at(i int) lua.LValue     { return getIndex(s.t, i) }
func (s *sorter) set(i int, v lua.LValue) { s.t.RawSetInt(i, v) }

func (s *sorter) isLess(a, b lua.LValue) bool {
	if s.less != nil {
		return lua.LVAsBool(s.lib.limits.call(s.L, s.less, a, b))
	}
	switch x := a.(type) {
	case lua.LNumber:
		if y, ok := b.(lua.LNumber); ok {
			return x < y
		}
	case lua.LString:
		if y, ok := b.(lua.LString); ok {
			return x < y
		}
	}
	return s.lessMeta(a, b)
}

// lessMeta compares by a metamethod that both values share, or throws.
func (s *sorter) lessMeta(a, b lua.LValue) bool {
	if a.Type() == b.Type() {
		fn, ok := s.L.GetMetaField(a, "__lt").(*lua.LFunction)
		if ok && fn == s.L.GetMetaField(b, "__lt") {
			return lua.LVAsBool(s.lib.limits.call(s.L, fn, a, b))
		}
	}
	msg := "attempt to compare " + a.Type().String() + " with " + b.Type().String()
	if a.Type() == b.Type() {
		msg = "attempt to compare two " + a.Type().String() + " values"
	}
	s.L.Error(lua.LString(msg), 0)
	return false
}

// order swaps the elements at i and j if the one at j is less.
func (s *sorter) order(i, j int) (swapped bool) {
	a, b := s.at(i), s.at(j)
	if !s.isLess(b, a) {
		return false
	}
	s.set(i, b)
	s.set(j, a)
	return true
}

// sort sorts the elements low to high. It recurses into the smaller part only, so its
// depth is logarithmic.
func (s *sorter) sort(low, high int) {
	for low < high {
		s.order(low, high)
		if high-low == 1 {
			return
		}
		middle := (low + high) / 2
		if !s.order(low, middle) {
			s.order(middle, high)
		}
		if high-low == 2 {
			return
		}
		pivot := s.at(middle)
		s.set(middle, s.at(high-1))
		s.set(high-1, pivot)
		i := s.partition(low, high, pivot)
		if i-low < high-i {
			s.sort(low, i-1)
			low = i + 1
		} else {
			s.sort(i+1, high)
			high = i - 1
		}
	}
}

// partition splits the elements low+1 to high-2 around the pivot, which is at high-1.
// It returns the new position of the pivot.
func (s *sorter) partition(low, high int, pivot lua.LValue) int {
	i, j := low, high-1
	for {
		i++
		x := s.at(i)
		for s.isLess(x, pivot) {
			if i > high {
				Raise(s.L, "invalid order function for sorting")
			}
			i++
			x = s.at(i)
		}
		j--
		y := s.at(j)
		for s.isLess(pivot, y) {
			if j < low {
				Raise(s.L, "invalid order function for sorting")
			}
			j--
			y = s.at(j)
		}
		if j < i {
			break
		}
		s.set(i, y)
		s.set(j, x)
	}
	last, x := s.at(high-1), s.at(i)
	s.set(high-1, x)
	s.set(i, last)
	return i
}
