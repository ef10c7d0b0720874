package rlock

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/rlock/internal/scripts"
)

// call is a script with its keys and arguments.
type call struct {
	script *scripts.Script
	args   []any // "evalsha", the hash, the number of keys, keys, arguments

	optional bool // the second key may be left out, see alone
}

// latchOptional returns k, whose second key may be left out.
func (k call) latchOptional() call {
	k.optional = true
	return k
}

// alone returns k without its second key, the latch, if its script allows that. A
// script with one key also runs while the key's slot of a cluster is moving. A late
// copy of it is not refused.
func (k call) alone() call {
	if k.optional && k.args[2] == 2 {
		args := slices.Delete(slices.Clone(k.args), firstKey+1, firstKey+2)
		args[2] = 1
		k.args = args
	}
	return k
}

// again returns k for a further copy. The argument copy, if the script has one, is its
// last argument.
func (k call) again() call {
	if slices.Contains(k.script.Args, "copy") {
		k.args = slices.Clone(k.args)
		k.args[len(k.args)-1] = copyAgain.arg()
	}
	return k
}

// firstKey is the index of the first key in a call's arguments.
const firstKey = 3

// newCall returns a call of s. A kind whose calls must be fast uses callOf.
func newCall(s *scripts.Script, keys []string, args ...any) call {
	all := make([]any, firstKey, firstKey+len(keys)+len(args))
	all[0], all[1], all[2] = "evalsha", s.SHA, len(keys)
	for _, key := range keys {
		all = append(all, key)
	}
	return call{script: s, args: append(all, args...)}
}

// callOf returns a call of s. all has so many keys, and then the arguments.
func callOf(s *scripts.Script, keys int, all ...any) call {
	args := make([]any, firstKey, firstKey+len(all))
	args[0], args[1], args[2] = "evalsha", s.SHA, keys
	return call{script: s, args: append(args, all...)}
}

// key returns the first key.
func (k call) key() string {
	key, _ := k.args[firstKey].(string)
	return key
}

// command returns k as an EVALSHA command, or with body as EVAL.
func (k call) command(ctx context.Context, body bool) *requestCmd {
	args := k.args
	if body {
		args = slices.Clone(args)
		args[0], args[1] = "eval", k.script.Body
	}
	cmd := redis.NewCmd(ctx, args...)
	cmd.SetFirstKeyPos(firstKey)
	return &requestCmd{Cmd: cmd}
}

// requestCmd is a request of rlock. go-redis does not retry it: Client.send decides
// that, and counts the copies.
type requestCmd struct {
	*redis.Cmd
	near   bool          // send with nearTimeout
	blocks time.Duration // how long the server may wait before it replies; 0: not at all
	hooked bool          // set by the sendHook
}

func (*requestCmd) NoRetry() bool { return true }

// result returns the reply of cmd, and a nil reply without an error.
func result(cmd *requestCmd) (any, error) {
	v, err := cmd.Result()
	if errors.Is(err, redis.Nil) {
		return nil, nil
	}
	return v, err
}
