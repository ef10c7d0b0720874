package store

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
	"unsafe"
)

// listOfNodes returns a list with one node for each word. The elements are its letters.
func listOfNodes(limit int, words ...string) *List {
	l := listWith(limit)
	for _, word := range words {
		l.AppendNode(bytes.Split([]byte(word), nil))
	}
	return l
}

// nodeWords returns a word for each node of l: the letters are the elements. A plain node
// is in brackets.
func nodeWords(l *List) (words []string) {
	l.EachNode(func(elems Packed, plain bool) {
		word := ""
		for pos := elems.First(); pos >= 0; pos = elems.Next(pos) {
			word += string(elems.At(pos))
		}
		if plain {
			word = "[" + word + "]"
		}
		words = append(words, word)
	})
	return words
}

func TestAnInsertUsesTheNodesThatRedisUses(t *testing.T) {
	for _, row := range []struct {
		limit int
		nodes []string
		do    func(l *List)
		want  []string
	}{
		{4, []string{"abcd"}, func(l *List) { l.InsertAfter(0, []byte("n")) }, []string{"a", "nbcd"}},
		{4, []string{"abcd"}, func(l *List) { l.InsertBefore(1, []byte("n")) }, []string{"an", "bcd"}},
		{4, []string{"abcd"}, func(l *List) { l.InsertBefore(0, []byte("n")) }, []string{"n", "abcd"}},
		{4, []string{"abcd"}, func(l *List) { l.InsertAfter(3, []byte("n")) }, []string{"abcd", "n"}},
		// The neighbour takes the element.
		{4, []string{"abcd", "ef"}, func(l *List) { l.InsertAfter(3, []byte("n")) }, []string{"abcd", "nef"}},
		{4, []string{"ab", "cdef"}, func(l *List) { l.InsertBefore(2, []byte("n")) }, []string{"abn", "cdef"}},
		{2, []string{"ab", "cd"}, func(l *List) { l.InsertAfter(1, []byte("n")) }, []string{"ab", "n", "cd"}},
		{2, []string{"ab", "cd"}, func(l *List) { l.InsertBefore(2, []byte("n")) }, []string{"ab", "n", "cd"}},
		// Parts are merged with their neighbours, and two neighbours on one side with each other.
		{4, []string{"xyz", "abcd"}, func(l *List) { l.InsertAfter(3, []byte("n")) }, []string{"xyza", "nbcd"}},
		{4, []string{"abcd", "xyz"}, func(l *List) { l.InsertBefore(3, []byte("n")) }, []string{"abcn", "dxyz"}},
		{4, []string{"v", "w", "abcd", "x", "y"}, func(l *List) { l.InsertAfter(2, []byte("n")) }, []string{"vwa", "nbcd", "x", "y"}},
		{4, []string{"v", "w", "abcd", "x", "y"}, func(l *List) { l.InsertBefore(5, []byte("n")) }, []string{"v", "w", "abcn", "dxy"}},
	} {
		l := listOfNodes(row.limit, row.nodes...)
		row.do(l)
		if got := nodeWords(l); !slices.Equal(got, row.want) {
			t.Errorf("limit %d, nodes %q: an insert made %q, want %q", row.limit, row.nodes, got, row.want)
		}
		if err := l.check(); err != nil {
			t.Error(err)
		}
	}
}

func TestAReplacedElementStaysInItsNode(t *testing.T) {
	l := listOfNodes(-2, "xy")
	for _, size := range []int{9000, 1, 70_000, 0} {
		l.Set(0, make([]byte, size))
		if err := l.check(); err != nil || l.Nodes() != 1 {
			t.Errorf("%d bytes: %d nodes, %v", size, l.Nodes(), err)
		}
	}
}

func TestAPlainNodeTakesNoOtherElement(t *testing.T) {
	plain := func() *List {
		l := listOfNodes(-2, "ab")
		l.AppendPlainNode([]byte("p"))
		l.AppendNode([][]byte{[]byte("c")})
		return l
	}
	for name, row := range map[string]struct {
		do   func(l *List)
		want []string
	}{
		"insert before it":     {func(l *List) { l.InsertBefore(2, []byte("n")) }, []string{"abn", "[p]", "c"}},
		"insert after it":      {func(l *List) { l.InsertAfter(2, []byte("n")) }, []string{"ab", "[p]", "nc"}},
		"replace its element":  {func(l *List) { l.Set(2, []byte("n")) }, []string{"ab", "nc"}},
		"remove its element":   {func(l *List) { l.Remove([]byte("p"), 0) }, []string{"ab", "c"}},
		"push after it":        {func(l *List) { l.Trim(0, 3); l.PushBack([]byte("n")) }, []string{"ab", "[p]", "n"}},
		"push before it":       {func(l *List) { l.Trim(2, 4); l.PushFront([]byte("n")) }, []string{"n", "[p]", "c"}},
		"pop its element":      {func(l *List) { l.Trim(0, 3); l.PopBack() }, []string{"ab"}},
		"trim to its element":  {func(l *List) { l.Trim(2, 3) }, []string{"[p]"}},
		"clone it, and change": {func(l *List) { *l = *l.Clone().(*List); l.PopFront() }, []string{"b", "[p]", "c"}},
	} {
		l := plain()
		row.do(l)
		if got := nodeWords(l); !slices.Equal(got, row.want) {
			t.Errorf("%s: the nodes are %q, want %q", name, got, row.want)
		}
		if err := l.check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAListKeepsTheLimitsOfItsCreation(t *testing.T) {
	lim := Limits{ListSize: 2, ListDepth: 1}
	l := NewList(&lim)
	lim = DefaultLimits()
	for i := range 5 {
		l.PushBack(fmt.Append(nil, i))
	}
	c := l.Clone().(*List)
	c.PushFront([]byte("x"))
	l.Trim(0, 0)
	l.PushBack([]byte("a"))
	l.PushBack([]byte("b"))
	l.PushBack([]byte("c"))
	if got := nodeWords(c); !slices.Equal(got, []string{"x", "01", "23", "4"}) || !c.Compressed() {
		t.Errorf("a clone has the nodes %q", got)
	}
	if got := nodeWords(l); !slices.Equal(got, []string{"ab", "c"}) || l.Limit() != 2 {
		t.Errorf("the list has the nodes %q", got)
	}
}

// TestANodeEndsByTheSizeOfAListpack: in Redis, numbers take less memory than their digits.
func TestANodeEndsByTheSizeOfAListpack(t *testing.T) {
	l := listWith(-1)
	for i := range 5000 {
		l.PushBack(fmt.Append(nil, i+1))
	}
	if l.Nodes() != 4 || l.NodeBytes() != 15806 {
		t.Errorf("%d nodes of %d bytes, redis-server has 4 of 15806", l.Nodes(), l.NodeBytes())
	}
}

// TestAListTakesNoMoreThanItsSizeClass: a list takes 48 bytes, a node 32.
func TestAListTakesNoMoreThanItsSizeClass(t *testing.T) {
	if list, node := unsafe.Sizeof(List{}), unsafe.Sizeof(listNode{}); list > 48 || node > 32 {
		t.Errorf("a list takes %d bytes, a node %d", list, node)
	}
}
