package command

import (
	"math"

	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

// Commands of Valkey 9.1 that Redis 7.0 does not have. They are in the table while the
// directive emulate names Valkey, see Table.EmulateValkey. What differs otherwise asks
// Config.Valkey. Redis 7.0 stays the oracle of everything else.

var (
	errNumKeys      = resp.Error("ERR invalid numkeys value or out of range")
	errNotImporting = resp.Error("ERR Server is not in import mode")
	errNoAOF        = resp.Error("ERR WAITAOF cannot be used when numlocal is set but " +
		"appendonly is disabled.")
	errLocalRange   = resp.Error("ERR value is out of range, value must between 0 and 1")
	errNotPositive  = resp.Error("ERR value is out of range, must be positive")
	errNoSuchSource = resp.Error("NOSCRIPT No matching script.")
)

// modules returns the loaded modules: none in Redis.
func modules(c *Ctx) resp.Reply {
	if c.Config.Valkey() {
		return valkeyModules
	}
	return resp.EmptyArray
}

// infoModules writes a line for each module.
func infoModules(c *Ctx, w *infoWriter) {
	if c.Config.Valkey() {
		w.line("module", "name=lua,ver=1,api=1,filters=0,usedby=[],using=[],"+
			"options=[handle-repl-async-load|handle-atomic-slot-migration]")
	}
}

// valkeyModules is the list of modules: Valkey's Lua is one.
var valkeyModules = resp.Array(resp.Map(
	resp.BulkString("name"), resp.BulkString("lua"), resp.BulkString("ver"), resp.Int(1),
	resp.BulkString("path"), resp.BulkString("lua"), resp.BulkString("args"), resp.EmptyArray,
))

// delifeq deletes a string that has the given value.
func delifeq(c *Ctx, args resp.Args) resp.Reply {
	e := c.DB.LookupWrite(args[1])
	s, ok := asString(e)
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
func msetex(c *Ctx, args resp.Args) resp.Reply {
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
		if at, failure = deadlineOf(c, o.ttl, o.unit); failure.IsError() {
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

// scriptShow returns the source of a cached script.
func scriptShow(c *Ctx, args resp.Args) resp.Reply {
	s, ok := c.Scripts.Lookup(args[2])
	if !ok {
		return errNoSuchSource
	}
	return resp.BulkString(s.Body())
}

// clientSetinfo stores what a client library says about itself.
func clientSetinfo(c *Ctx, args resp.Args) resp.Reply {
	field := &c.Session.LibName
	switch {
	case isWord(args[2], "lib-name"):
	case isWord(args[2], "lib-ver"):
		field = &c.Session.LibVersion
	default:
		return resp.Errorf("ERR Unrecognized option '%s'", args[2])
	}
	if !validName(args[3]) {
		return resp.Errorf("ERR %s cannot contain spaces, newlines or special characters.", args[2])
	}
	*field = string(args[3])
	return resp.OK
}

// clientCapa stores the capabilities that the client claims. Unknown ones are ignored.
func clientCapa(c *Ctx, args resp.Args) resp.Reply {
	for _, capability := range args[2:] {
		if isWord(capability, "redirect") {
			c.Session.Redirects = true
		}
	}
	return resp.OK
}

// clientNoTouch sets whether the client's commands count as accesses of their keys.
func clientNoTouch(c *Ctx, args resp.Args) resp.Reply {
	on := isWord(args[2], "on")
	if !on && !isWord(args[2], "off") {
		return resp.ErrSyntax
	}
	c.Session.NoTouch = on
	c.Space.NoTouch = on // for the rest of a transaction
	return resp.OK
}

// clientImportSource refuses: there is no import mode.
func clientImportSource(_ *Ctx, args resp.Args) resp.Reply {
	if isWord(args[2], "off") {
		return resp.OK
	}
	return errNotImporting
}

// waitaof waits until replicas have written the client's changes to disk. There are no
// replicas and no append-only file here, so it waits until its timeout.
func waitaof(c *Ctx, args resp.Args) resp.Reply {
	local, ok := resp.ParseInt(args[1])
	switch {
	case !ok:
		return resp.ErrNotInt
	case local < 0 || local > 1:
		return errLocalRange
	}
	replicas, ok := resp.ParseInt(args[2])
	if !ok || replicas < 0 {
		return errNotPositive
	}
	timeout, failure := parseTimeoutMillis(args[3])
	switch {
	case failure.IsError():
		return failure
	case local > 0:
		return errNoAOF
	}
	return waitForReplicas(c, replicas, timeout, resp.Array(resp.Int(0), resp.Int(0)))
}
