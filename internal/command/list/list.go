package list

import (
	"math"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

var errIndexRange = resp.Error("ERR index out of range")

// listEnd is an end of a list: the head (LPUSH, LPOP) or the tail (RPUSH, RPOP).
type listEnd bool

const (
	listHead listEnd = true
	listTail listEnd = false
)

// parseListEnd parses LEFT or RIGHT.
func parseListEnd(arg []byte) (end listEnd, ok bool) {
	if command.IsWord(arg, "left") {
		return listHead, true
	}
	return listTail, command.IsWord(arg, "right")
}

// event returns the event of a push or a pop at this end: head or tail.
func (end listEnd) event(head, tail string) string {
	if end == listHead {
		return head
	}
	return tail
}

func (end listEnd) push(l *store.List, elem []byte) {
	if end == listHead {
		l.PushFront(elem)
	} else {
		l.PushBack(elem)
	}
}

func (end listEnd) pop(l *store.List) []byte {
	if end == listHead {
		return l.PopFront()
	}
	return l.PopBack()
}

func lpush(c *command.Ctx, args resp.Args) resp.Reply { return pushList(c, args, listHead, false) }
func rpush(c *command.Ctx, args resp.Args) resp.Reply { return pushList(c, args, listTail, false) }

func lpushx(c *command.Ctx, args resp.Args) resp.Reply { return pushList(c, args, listHead, true) }
func rpushx(c *command.Ctx, args resp.Args) resp.Reply { return pushList(c, args, listTail, true) }

func pushList(c *command.Ctx, args resp.Args, end listEnd, onlyExisting bool) resp.Reply {
	e := c.DB.LookupWrite(args[1])
	l, ok := command.As[*store.List](e)
	switch {
	case !ok:
		return resp.ErrWrongType
	case e == nil && onlyExisting:
		return resp.Int(0)
	case e == nil:
		l = store.NewList(&c.Space.Limits)
	}
	for _, elem := range args[2:] {
		end.push(l, elem)
	}
	n := int64(len(args) - 2)
	c.Put(args[1], e, l, command.ListClass, end.event("lpush", "rpush"), n, command.Came(args[2:], 1, n))
	return resp.Int(int64(l.Len()))
}

func lpop(c *command.Ctx, args resp.Args) resp.Reply { return popList(c, args, listHead) }
func rpop(c *command.Ctx, args resp.Args) resp.Reply { return popList(c, args, listTail) }

func popList(c *command.Ctx, args resp.Args, end listEnd) resp.Reply {
	count, null := int64(-1), resp.Nil
	if len(args) > 3 {
		return resp.ErrArity(c.Cmd.Name)
	}
	if len(args) == 3 {
		n, ok := resp.ParseInt(args[2])
		if !ok || n < 0 {
			return resp.ErrValuePositive
		}
		count, null = n, resp.NilArray
	}
	e := c.DB.LookupWrite(args[1])
	l, ok := command.As[*store.List](e)
	switch {
	case !ok:
		return resp.ErrWrongType
	case e == nil:
		return null
	case count < 0:
		return popOne(c, e, l, end)
	case count == 0:
		return resp.EmptyArray
	}
	return popSome(c, e, l, end, count)
}

// popOne removes one element from l, says so and replies with the element.
func popOne(c *command.Ctx, e *store.Entry, l *store.List, end listEnd) resp.Reply {
	elem := end.pop(l)
	listPopped(c, e, end, c.NotServed(), c.One(elem))
	return resp.Bulk(elem)
}

// popSome is popOne for up to count elements. The reply is an array.
func popSome(c *command.Ctx, e *store.Entry, l *store.List, end listEnd, count int64) resp.Reply {
	n := int(min(count, int64(l.Len())))
	elems := make([]resp.Reply, n)
	from, keepFrom, keepTo := 0, n, l.Len()
	if end == listTail {
		from, keepFrom, keepTo = l.Len()-1, 0, l.Len()-n
	}
	it := l.Iter(from, end == listTail)
	for i := range elems {
		elem, _ := it.Next()
		elems[i] = resp.BulkString(string(elem))
	}
	l.Trim(keepFrom, keepTo)
	listPopped(c, e, end, int64(n), nil)
	return resp.Array(elems...)
}

// listPopped says that elements were popped from the list of e: elems, nil: unnamed.
func listPopped(c *command.Ctx, e *store.Entry, end listEnd, count int64, elems resp.Args) {
	c.Change(e, command.ListClass, end.event("lpop", "rpop"), count, command.Went(elems))
}

func llen(c *command.Ctx, args resp.Args) resp.Reply {
	l, reply := command.Reading[*store.List](c, args[1], resp.Int(0))
	if l == nil {
		return reply
	}
	return resp.Int(int64(l.Len()))
}

func lindex(c *command.Ctx, args resp.Args) resp.Reply {
	l, reply := command.Reading[*store.List](c, args[1], resp.Nil)
	if l == nil {
		return reply
	}
	i, within, failure := parseListIndex(l, args[2])
	switch {
	case failure.IsError():
		return failure
	case !within:
		return resp.Nil
	}
	return resp.Bulk(l.At(i))
}

// parseListIndex parses an index into l: -1 is the last element. within is false when l has
// no such element.
func parseListIndex(l *store.List, arg []byte) (i int, within bool, failure resp.Reply) {
	n, ok := resp.ParseInt(arg)
	if !ok {
		return 0, false, resp.ErrNotInt
	}
	if n < 0 {
		n += int64(l.Len())
	}
	return int(n), 0 <= n && n < int64(l.Len()), resp.NoReply
}

func lset(c *command.Ctx, args resp.Args) resp.Reply {
	e, l, reply := command.Writing[*store.List](c, args[1], resp.ErrNoKey)
	if l == nil {
		return reply
	}
	i, within, failure := parseListIndex(l, args[2])
	switch {
	case failure.IsError():
		return failure
	case !within:
		return errIndexRange
	}
	l.Set(i, args[3])
	c.Change(e, command.ListClass, "lset", 1)
	return resp.OK
}

func linsert(c *command.Ctx, args resp.Args) resp.Reply {
	after := command.IsWord(args[2], "after")
	if !after && !command.IsWord(args[2], "before") {
		return resp.ErrSyntax
	}
	e, l, reply := command.Writing[*store.List](c, args[1], resp.Int(0))
	if l == nil {
		return reply
	}
	at := -1
	it := l.Iter(0, false)
	for i := range l.Len() {
		if elem, _ := it.Next(); string(elem) == string(args[3]) {
			at = i
			break
		}
	}
	if at < 0 {
		return resp.Int(-1)
	}
	if after {
		l.InsertAfter(at, args[4])
	} else {
		l.InsertBefore(at, args[4])
	}
	c.Change(e, command.ListClass, "linsert", 1)
	return resp.Int(int64(l.Len()))
}

func lrange(c *command.Ctx, args resp.Args) resp.Reply {
	start, end, ok := command.ParseRange(args[2], args[3])
	if !ok {
		return resp.ErrNotInt
	}
	l, reply := command.Reading[*store.List](c, args[1], resp.EmptyArray)
	if l == nil {
		return reply
	}
	from, to := command.ClampRange(start, end, l.Len())
	elems := make([]resp.Reply, to-from)
	it := l.Iter(from, false)
	for i := range elems {
		elem, _ := it.Next()
		elems[i] = resp.Bulk(elem)
	}
	return resp.Array(elems...)
}

func ltrim(c *command.Ctx, args resp.Args) resp.Reply {
	start, end, ok := command.ParseRange(args[2], args[3])
	if !ok {
		return resp.ErrNotInt
	}
	e, l, reply := command.Writing[*store.List](c, args[1], resp.OK)
	if l == nil {
		return reply
	}
	before := l.Len()
	l.Trim(command.ClampRange(start, end, before))
	c.Change(e, command.ListClass, "ltrim", int64(before-l.Len()))
	return resp.OK
}

func lrem(c *command.Ctx, args resp.Args) resp.Reply {
	count, ok := resp.ParseInt(args[2])
	if !ok {
		return resp.ErrNotInt
	}
	count = max(count, -math.MaxInt64)
	e, l, reply := command.Writing[*store.List](c, args[1], resp.Int(0))
	if l == nil {
		return reply
	}
	removed := l.Remove(args[3], int(count))
	if removed > 0 {
		c.Change(e, command.ListClass, "lrem", int64(removed), command.Went(args[3:]))
	}
	return resp.Int(int64(removed))
}
