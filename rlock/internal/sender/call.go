package sender

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/rlock/internal/scripts"
)

// Call is a script with its keys and arguments.
type Call struct {
	script *scripts.Script
	args   []any // "evalsha", the hash, the number of keys, keys, arguments

	optional bool // the second key may be left out, see alone
}

// LatchOptional returns k, whose second key may be left out.
func (k Call) LatchOptional() Call {
	k.optional = true
	return k
}

// alone returns k without its second key, the latch, if its script allows that. A
// script with one key also runs while the key's slot of a cluster is moving. A late
// copy of it is not refused.
func (k Call) alone() Call {
	if k.optional && k.args[2] == 2 {
		args := slices.Delete(slices.Clone(k.args), firstKey+1, firstKey+2)
		args[2] = 1
		k.args = args
	}
	return k
}

// again returns k for a further copy. The argument copy, if the script has one, is its
// last argument.
func (k Call) again() Call {
	if slices.Contains(k.script.Args, "copy") {
		k.args = slices.Clone(k.args)
		k.args[len(k.args)-1] = "again"
	}
	return k
}

// firstKey is the index of the first key in a call's arguments.
const firstKey = 3

// NewCall returns a call of s. A kind whose calls must be fast uses CallOf.
func NewCall(s *scripts.Script, keys []string, args ...any) Call {
	all := make([]any, firstKey, firstKey+len(keys)+len(args))
	all[0], all[1], all[2] = "evalsha", s.SHA, len(keys)
	for _, key := range keys {
		all = append(all, key)
	}
	return Call{script: s, args: append(all, args...)}
}

// CallOf returns a call of s. all has so many keys, and then the arguments.
func CallOf(s *scripts.Script, keys int, all ...any) Call {
	args := make([]any, firstKey, firstKey+len(all))
	args[0], args[1], args[2] = "evalsha", s.SHA, keys
	return Call{script: s, args: append(args, all...)}
}

// Key returns the first key.
func (k Call) Key() string {
	key, _ := k.args[firstKey].(string)
	return key
}

// command returns k as an EVALSHA command, or with body as EVAL.
func (k Call) command(ctx context.Context, body bool) *requestCmd {
	args := k.args
	if body {
		args = slices.Clone(args)
		args[0], args[1] = "eval", k.script.Body
	}
	cmd := redis.NewCmd(ctx, args...)
	cmd.SetFirstKeyPos(firstKey)
	return newRequestCmd(cmd)
}

// requestCmd is a request of rlock. go-redis does not retry it: Sender.Send decides
// that, and counts the copies.
type requestCmd struct {
	*redis.Cmd
	pool   poolState     // of the first of the near requests that go together
	blocks time.Duration // how long the server may wait before it replies; 0: not at all
	batch  int32         // how many near requests go in one pipeline; 0: it goes alone
	near   bool          // send with a short timeout, see nearPatience
	hooked bool          // set by the sendHook
	wrote  bool          // like written; only the goroutine that sends the command may use it

	// sent is when go-redis wrote the command to a connection. Before that it is when
	// the command was made. written, which may be nil, tells the same.
	sent    time.Time
	written *atomic.Bool
}

func newRequestCmd(cmd *redis.Cmd) *requestCmd { return &requestCmd{Cmd: cmd, sent: time.Now()} }

// begin is called before go-redis waits for a connection.
func (r *requestCmd) begin() {
	r.wrote = false
	if r.written != nil {
		r.written.Store(false)
	}
}

func (*requestCmd) NoRetry() bool { return true }

// Args returns the arguments. go-redis calls it to write the command, when it has a connection. So
// the time for which the command waits in the pool of connections is before sent. A
// hook may call Args too: after the reply that changes nothing.
func (r *requestCmd) Args() []any {
	if r.Val() == nil && r.Err() == nil {
		r.sent = time.Now()
		r.wrote = true
		if r.written != nil {
			r.written.Store(true)
		}
	}
	return r.Cmd.Args()
}

// took returns the time from sent until now. The server runs the requests of a pipeline one
// after the other, so one of them took its share.
func (r *requestCmd) took() time.Duration { return time.Since(r.sent) / time.Duration(max(r.batch, 1)) }

// result returns the reply of cmd, and a nil reply without an error. The error is a
// staleError if the connection was broken before.
func result(cmd *requestCmd) (any, error) {
	v, err := cmd.Result()
	switch {
	case errors.Is(err, redis.Nil):
		return nil, nil
	case stale(err, cmd.sent):
		return v, staleError{err}
	}
	return v, err
}
