package rlocksuite

import (
	"context"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"
)

// SendTwice makes a new client send every script twice and drop the first reply, as
// rlock does when a reply is lost: the second copy says that it is not the first. The
// suite must pass with it.
func SendTwice(rdb redis.UniversalClient) {
	if cluster, ok := rdb.(*redis.ClusterClient); ok {
		// rlock also uses the clients of the nodes.
		cluster.OnNewNode(func(node *redis.Client) { node.AddHook(twice{}) })
		return
	}
	rdb.AddHook(twice{})
}

// twice is the hook of SendTwice.
type twice struct{}

func (twice) DialHook(next redis.DialHook) redis.DialHook { return next }

func (twice) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if err := next(ctx, cmd); !again(cmd) || err != nil &&
			strings.HasPrefix(err.Error(), "NOSCRIPT") {
			return err
		}
		defer asAgain(cmd)()
		return next(ctx, cmd)
	}
}

func (twice) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if slices.ContainsFunc(cmds, again) {
			_ = next(ctx, cmds)
		}
		for _, cmd := range cmds {
			defer asAgain(cmd)()
		}
		return next(ctx, cmds)
	}
}

// asAgain changes the last argument of an acquire script that says which copy it is, and
// returns a function that restores it: rlock uses the arguments for further copies.
func asAgain(cmd redis.Cmder) (restore func()) {
	args := cmd.Args()
	last := &args[len(args)-1]
	was := *last
	if again(cmd) && (was == "first" || was == "woken") {
		*last = "again"
	}
	return func() { *last = was }
}

// again reports whether cmd is a script.
func again(cmd redis.Cmder) bool { return strings.HasPrefix(cmd.Name(), "eval") }
