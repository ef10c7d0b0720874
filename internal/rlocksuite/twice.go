package rlocksuite

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"
)

// SendTwice makes a new client send every script twice and drop the first reply, as
// go-redis does when a reply is lost. Scripts that rlock sends only once are not
// repeated. The suite must pass with it.
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
		return next(ctx, cmd)
	}
}

func (twice) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if slices.ContainsFunc(cmds, again) {
			_ = next(ctx, cmds)
		}
		return next(ctx, cmds)
	}
}

// again reports whether cmd is a script that rlock may send twice. It looks at the
// command's type, because rlock counts each call of NoRetry as a failed send.
func again(cmd redis.Cmder) bool {
	return strings.HasPrefix(cmd.Name(), "eval") && fmt.Sprintf("%T", cmd) != "rlock.onceCmd"
}
