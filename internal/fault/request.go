package fault

import (
	"crypto/sha1"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
)

// request is what a Rule sees of a client's request: a Request.
type request struct {
	c    *command.Ctx
	args resp.Args
	name string
	sha  *string // nil: SHA was not asked for

	keyed bool // names has the keys
	names []string
}

func (r *request) Client() Client { return clientOf(r.c.Session) }
func (r *request) Args() [][]byte { return r.args }
func (r *request) DB() int        { return r.c.DB.ID() }

func (r *request) Name() string {
	if r.name == "" {
		if r.name = strings.ToLower(string(r.args[0])); r.c.Cmd != nil {
			r.name = r.c.Cmd.Name
		}
	}
	return r.name
}

func (r *request) AnyKey(fits func(key string) bool) bool { return slices.ContainsFunc(r.keys(), fits) }

// firstKey returns the command's first key: of a script of Redisson or rlock, the lock. It is nil if
// there is none.
func (r *request) firstKey() []byte {
	if keys := r.keys(); len(keys) > 0 {
		return []byte(keys[0])
	}
	return nil
}

// hasLease reports whether the command's first key has a deadline that can end now: not in the middle
// of a script, and not while a file is read.
func (r *request) hasLease() bool {
	_, busy := r.c.Env.Script.Busy()
	_, loading := r.c.Saving.Loading()
	key := r.firstKey()
	if busy || loading || key == nil {
		return false
	}
	e := r.c.DB.Peek(key)
	return e != nil && r.c.DB.Deadline(e) != 0
}

// keys returns the command's keys. They are found once for all rules.
func (r *request) keys() []string {
	if r.keyed || r.c.Cmd == nil || !r.c.Cmd.ArityOK(len(r.args)) {
		return r.names
	}
	r.keyed = true
	found, _ := r.c.Cmd.KeyPositions(r.args)
	for _, at := range found {
		if at.At < len(r.args) {
			r.names = append(r.names, string(r.args[at.At]))
		}
	}
	return r.names
}

func (r *request) SHA() string {
	if r.sha == nil {
		sha := r.hash()
		r.sha = &sha
	}
	return *r.sha
}

func (r *request) hash() string {
	switch cmd := r.c.Cmd; {
	case cmd == nil || len(r.args) < 2:
	case cmd.Has(command.DeclaresInSource):
		sum := sha1.Sum(r.args[1])
		return hex.EncodeToString(sum[:])
	case cmd.Has(command.DeclaresBySHA):
		return strings.ToLower(string(r.args[1]))
	}
	return ""
}

func (r *request) Script() string {
	switch cmd := r.c.Cmd; {
	case cmd == nil || len(r.args) < 2:
	case cmd.Has(command.DeclaresInSource):
		return string(r.args[1])
	case cmd.Has(command.DeclaresBySHA):
		if s, ok := r.c.Scripts.Lookup(r.args[1]); ok {
			return s.Body()
		}
	case cmd.Has(command.DeclaresByName):
		if f, ok := r.c.Scripts.Function(r.args[1]); ok {
			return f.Library().Code()
		}
	}
	return ""
}

func clientOf(s *command.Session) Client {
	return Client{ID: s.ID, Addr: s.Addr, Name: s.Name, Subscribed: s.Subs.Any()}
}
