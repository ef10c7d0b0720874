package str

import (
	"math"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

var errNumKeys = resp.Error("ERR invalid numkeys value or out of range")

// delifeq deletes a string that has the given value.
func delifeq(c *command.Ctx, args resp.Args) resp.Reply {
	e := c.DB.LookupWrite(args[1])
	s, ok := command.As[*store.String](e)
	switch {
	case !ok:
		return resp.ErrWrongType
	case s == nil || !hasText(s, args[2]):
		return resp.Int(0)
	}
	c.Delete(e, c.Space.Lazyfree.ServerDel, 1)
	return resp.Int(1)
}

// hasText reports whether s is text.
func hasText(s *store.String, text []byte) bool {
	reply := stringReply(s)
	return string(reply.Text()) == string(text)
}

// msetex sets several strings with one deadline: MSETEX numkeys key value … [NX | XX]
// [EX … | KEEPTTL].
func msetex(c *command.Ctx, args resp.Args) resp.Reply {
	n, ok := resp.ParseInt(args[1])
	switch {
	case !ok || n < 1 || n > math.MaxInt32:
		return errNumKeys
	case int(n) > (len(args)-2)/2:
		return resp.ErrSyntax
	}
	pairs, options := args[2:2+2*n], args[2+2*n:]
	o, ok := parseSetOptions(options, forMsetex)
	if !ok {
		return resp.ErrSyntax
	}
	at := int64(0)
	if o.ttl != nil {
		var failure resp.Reply
		if at, failure = command.DeadlineOf(c, o.ttl, o.unit); failure.IsError() {
			return failure
		}
	}
	for i := 0; i < len(pairs) && (o.nx || o.xx); i += 2 {
		if found := c.DB.LookupWrite(pairs[i]) != nil; found == o.nx {
			return resp.Int(0)
		}
	}
	for i := 0; i < len(pairs); i += 2 {
		setString(c, pairs[i], pairs[i+1], at, &o)
	}
	return resp.Int(1)
}
