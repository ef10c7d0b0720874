package rlock

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// script is a Lua script, sent by its hash.
type script struct {
	body string
	sha  any // a string, as commands take it
}

func newScript(body string) *script {
	sum := sha1.Sum([]byte(body))
	return &script{body, hex.EncodeToString(sum[:])}
}

// call is a script with its keys and arguments: a whole EVALSHA, which is made
// once however often it is sent.
type call struct {
	script *script
	args   []any // "evalsha", the hash, the number of keys, keys, arguments
	failed *int  // counts the sendings that failed; nil: nobody asks
}

// firstKey is the place of the first key in a call's arguments.
const firstKey = 3

func (s *script) call(keys []string, args ...any) call {
	all := make([]any, firstKey, firstKey+len(keys)+len(args)+1) // one more: see relet
	all[0], all[1], all[2] = "evalsha", s.sha, len(keys)
	for _, key := range keys {
		all = append(all, key)
	}
	return call{script: s, args: append(all, args...)}
}

// key returns the first key.
func (k call) key() string {
	key, _ := k.args[firstKey].(string)
	return key
}

// once is a command that go-redis does not send again: its effect is not the
// same when it runs twice.
type once struct{ *redis.Cmd }

func (once) NoRetry() bool { return true }

// counted is a command that counts its sendings that failed: after each of them,
// be it by an error or nil as the answer, go-redis asks whether it may send again.
type counted struct {
	*redis.Cmd
	failed *int
	once   bool
}

func (c counted) NoRetry() bool {
	*c.failed++
	return c.once
}

// notRun tells that the last sending's failure was an answer: it did not run.
func (k call) notRun() {
	if k.failed != nil {
		*k.failed--
	}
}

// command returns k as EVALSHA, or as EVAL.
func (k call) command(ctx context.Context, eval, retry bool) redis.Cmder {
	args := k.args
	if eval {
		args = slices.Clone(args)
		args[0], args[1] = "eval", k.script.body
	}
	cmd := redis.NewCmd(ctx, args...)
	cmd.SetFirstKeyPos(firstKey)
	switch {
	case k.failed != nil:
		return counted{cmd, k.failed, !retry}
	case !retry:
		return once{cmd}
	}
	return cmd
}

func result(cmd redis.Cmder) (any, error) {
	v, err := cmd.(interface{ Result() (any, error) }).Result()
	if errors.Is(err, redis.Nil) {
		return nil, nil
	}
	return v, err
}

func noScript(err error) bool { return err != nil && strings.HasPrefix(err.Error(), "NOSCRIPT") }

// run runs k and returns its reply; nil is nil. With retry, go-redis may send
// it more than once.
func (c *Client) run(ctx context.Context, k call, retry bool) (any, error) {
	rdb, again := c.sender(ctx)
	if !again && !retry {
		return nil, errOnce
	}
	retry = retry && again
	cmd := k.command(ctx, false, retry)
	_ = rdb.Process(ctx, cmd)
	v, err := result(cmd)
	if noScript(err) {
		k.notRun()
		cmd = k.command(ctx, true, retry)
		_ = rdb.Process(ctx, cmd)
		v, err = result(cmd)
	}
	c.lookAgain(ctx, err)
	return v, err
}

// lookAgain has a cluster's client ask which node has which slot when a node did
// not answer: by itself go-redis asks after MOVED only, or a minute later.
func (c *Client) lookAgain(ctx context.Context, err error) {
	if c.topo.reload != nil && !answered(err) {
		c.topo.reload(ctx)
	}
}

// runAll runs calls in one pipeline. They may be sent more than once.
func (c *Client) runAll(ctx context.Context, calls []call) []outcome {
	outcomes := make([]outcome, len(calls))
	missing := c.pipeline(ctx, calls, outcomes, false)
	if missing {
		c.pipeline(ctx, calls, outcomes, true)
	}
	return outcomes
}

// pipeline fills in the outcomes; with eval, of those calls only whose script
// the server did not have. It reports whether there are such.
func (c *Client) pipeline(ctx context.Context, calls []call, outcomes []outcome, eval bool) (missing bool) {
	pipe := c.rdb.Pipeline()
	cmds := make([]redis.Cmder, len(calls))
	for i, k := range calls {
		if !eval || noScript(outcomes[i].err) {
			cmds[i] = k.command(ctx, eval, true)
			_ = pipe.Process(ctx, cmds[i])
		}
	}
	_, _ = pipe.Exec(ctx)
	for i, cmd := range cmds {
		if cmd != nil {
			outcomes[i].reply, outcomes[i].err = result(cmd)
			missing = missing || noScript(outcomes[i].err)
			c.lookAgain(ctx, outcomes[i].err)
		}
	}
	return missing
}

// runSynced is run, and then waits for replicas where that is asked for. A
// reply comes with ErrNotSynced when none confirmed.
func (c *Client) runSynced(ctx context.Context, k call, retry bool) (any, error) {
	if !c.topo.synced {
		return c.run(ctx, k, retry)
	}
	for redirects := 1; ; redirects++ {
		n, err := c.topo.node(ctx, k.key())
		if err != nil {
			return nil, err
		}
		v, err := c.runOnNode(ctx, n, k, false, retry)
		if addr, ok := redirected(err, "ASK "); ok { // the key's slot is on its way to another node
			if next, _ := c.topo.at(ctx, addr); next != nil {
				v, err = c.runOnNode(ctx, next, k, true, retry)
			}
		}
		c.lookAgain(ctx, err)
		if _, moved := redirected(err, "MOVED "); !moved || redirects > 3 {
			return v, err
		}
		pause(ctx, backoff(redirects))
	}
}

// redirected returns the address that an error of the given prefix names.
func redirected(err error, prefix string) (addr string, ok bool) {
	if err == nil || !strings.HasPrefix(err.Error(), prefix) {
		return "", false
	}
	return err.Error()[strings.LastIndexByte(err.Error(), ' ')+1:], true
}

// runOnNode is runSynced on a node; asking, if the key's slot is about to be its.
func (c *Client) runOnNode(ctx context.Context, n node, k call, asking, retry bool) (any, error) {
	expected, err := c.topo.replicas.of(ctx, n)
	if err != nil {
		return nil, err
	}
	r := synced{n, k, asking, retry, expected, c.opts.SyncTimeout}
	v, confirmed, err := r.run(ctx, false)
	if noScript(err) {
		v, confirmed, err = r.run(ctx, true)
	}
	if err != nil || expected == 0 {
		return v, err
	}
	if confirmed != int64(expected) {
		c.topo.replicas.forget(n)
	}
	if confirmed == 0 {
		return v, fmt.Errorf("%w: 0 of %d within %v", ErrNotSynced, expected, c.opts.SyncTimeout)
	}
	return v, nil
}

// synced is a call to a node whose replicas are waited for.
type synced struct {
	node     node
	call     call
	asking   bool
	retry    bool
	replicas int
	timeout  time.Duration
}

// run sends the call and, when there are replicas, WAIT on one connection.
func (r synced) run(ctx context.Context, eval bool) (v any, confirmed int64, err error) {
	cmd := r.call.command(ctx, eval, r.retry)
	if r.replicas == 0 && !r.asking {
		_ = r.node.Process(ctx, cmd)
		v, err = result(cmd)
		return v, 0, err
	}
	pipe := r.node.Pipeline()
	if r.asking {
		_ = pipe.Process(ctx, redis.NewStatusCmd(ctx, "asking"))
	}
	_ = pipe.Process(ctx, cmd)
	wait := redis.NewIntCmd(ctx, "wait", r.replicas, r.timeout.Milliseconds())
	if r.replicas > 0 {
		_ = pipe.Process(ctx, wait)
	}
	_, _ = pipe.Exec(ctx)
	if v, err = result(cmd); err == nil {
		err = wait.Err()
	}
	return v, wait.Val(), err
}
