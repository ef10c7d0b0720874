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

// script is a Lua script, sent as EVALSHA.
type script struct {
	body string
	sha  any // a string; as any, so that a command takes it without an allocation
}

func newScript(body string) *script {
	sum := sha1.Sum([]byte(body))
	return &script{body, hex.EncodeToString(sum[:])}
}

// call is a script with its keys and arguments: one EVALSHA, which may be sent
// several times.
type call struct {
	script *script
	args   []any // "evalsha", the hash, the number of keys, keys, arguments
	failed *int  // counts the failed sends; nil: not counted
}

// firstKey is the index of the first key in a call's arguments.
const firstKey = 3

func (s *script) call(keys []string, args ...any) call {
	// The capacity has room for the argument that restartLease appends.
	all := make([]any, firstKey, firstKey+len(keys)+len(args)+1)
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

// onceCmd is a command that go-redis must not retry, because a second run would
// have a further effect.
type onceCmd struct{ *redis.Cmd }

func (onceCmd) NoRetry() bool { return true }

// countedCmd is a command that counts its failed sends. go-redis calls NoRetry
// after each of them; a nil reply is a failure to go-redis too.
type countedCmd struct {
	*redis.Cmd
	failed *int
	once   bool
}

func (c countedCmd) NoRetry() bool {
	*c.failed++
	return c.once
}

// ignoreFailure takes the last failure out of the count: it was a reply that says
// that the script did not run (NOSCRIPT).
func (k call) ignoreFailure() {
	if k.failed != nil {
		*k.failed--
	}
}

// command returns k as an EVALSHA command, or as EVAL. With retry, go-redis may
// retry it.
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
		return countedCmd{cmd, k.failed, !retry}
	case !retry:
		return onceCmd{cmd}
	}
	return cmd
}

// result returns the reply of cmd, and a nil reply without an error.
func result(cmd redis.Cmder) (any, error) {
	v, err := cmd.(interface{ Result() (any, error) }).Result()
	if errors.Is(err, redis.Nil) {
		return nil, nil
	}
	return v, err
}

func noScript(err error) bool { return err != nil && strings.HasPrefix(err.Error(), "NOSCRIPT") }

// run runs k and returns its reply. With retry, k may be sent more than once.
func (c *Client) run(ctx context.Context, k call, retry bool) (any, error) {
	rdb, clientRetries := c.sender(ctx)
	if !clientRetries && !retry {
		return nil, errNoRetry
	}
	retry = retry && clientRetries
	cmd := k.command(ctx, false, retry)
	_ = rdb.Process(ctx, cmd)
	v, err := result(cmd)
	if noScript(err) {
		k.ignoreFailure()
		cmd = k.command(ctx, true, retry)
		_ = rdb.Process(ctx, cmd)
		v, err = result(cmd)
	}
	c.reloadTopology(ctx, err)
	return v, err
}

// reloadTopology makes a cluster client load its slot map again when a node did
// not answer. go-redis itself does so only after MOVED, or a minute later.
func (c *Client) reloadTopology(ctx context.Context, err error) {
	if c.topo.reload != nil && !answered(err) {
		c.topo.reload(ctx)
	}
}

// runAll runs calls in one pipeline. Each may be sent more than once.
func (c *Client) runAll(ctx context.Context, calls []call) []outcome {
	outcomes := make([]outcome, len(calls))
	missing := c.pipeline(ctx, calls, outcomes, false)
	if missing {
		c.pipeline(ctx, calls, outcomes, true)
	}
	return outcomes
}

// pipeline sends calls in one pipeline and stores their outcomes. With eval it
// sends only the calls with a NOSCRIPT outcome, as EVAL. missing reports whether
// the server did not know a script.
func (c *Client) pipeline(
	ctx context.Context, calls []call, outcomes []outcome, eval bool,
) (missing bool) {
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
			c.reloadTopology(ctx, outcomes[i].err)
		}
	}
	return missing
}

// runSynced is run, and then waits for replicas if Options.Sync asks for that. When
// no replica confirmed, it returns the reply together with ErrNotSynced.
func (c *Client) runSynced(ctx context.Context, k call, retry bool) (any, error) {
	if !c.topo.synced {
		return c.run(ctx, k, retry)
	}
	for redirects := 1; ; redirects++ {
		n, err := c.topo.nodeFor(ctx, k.key())
		if err != nil {
			return nil, err
		}
		v, err := c.runOnNode(ctx, n, k, false, retry)
		if addr, ok := redirected(err, "ASK "); ok { // the slot is migrating to another node
			if next, _ := c.topo.nodeAt(ctx, addr); next != nil {
				v, err = c.runOnNode(ctx, next, k, true, retry)
			}
		}
		c.reloadTopology(ctx, err)
		if _, moved := redirected(err, "MOVED "); !moved || redirects > 3 {
			return v, err
		}
		sleep(ctx, backoff(redirects))
	}
}

// redirected returns the address in a MOVED or ASK error. ok is false for an error
// without the given prefix.
func redirected(err error, prefix string) (addr string, ok bool) {
	if err == nil || !strings.HasPrefix(err.Error(), prefix) {
		return "", false
	}
	return err.Error()[strings.LastIndexByte(err.Error(), ' ')+1:], true
}

// runOnNode is runSynced on node n. asking sends ASKING first, for a node that is
// importing the key's slot.
func (c *Client) runOnNode(ctx context.Context, n node, k call, asking, retry bool) (any, error) {
	expected, err := c.topo.replicas.get(ctx, n)
	if err != nil {
		return nil, err
	}
	r := syncedCall{n, k, asking, retry, expected, c.opts.SyncTimeout}
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

// syncedCall is a call to a node, followed by a wait for its replicas.
type syncedCall struct {
	node     node
	call     call
	asking   bool
	retry    bool
	replicas int
	timeout  time.Duration
}

// run sends the call and, if the node has replicas, WAIT on the same connection.
func (r syncedCall) run(ctx context.Context, eval bool) (v any, confirmed int64, err error) {
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
