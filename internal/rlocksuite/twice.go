package rlocksuite

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"
)

// SendTwice has a new client send every script again, as go-redis does when its
// reply is lost: the first reply is not seen. Scripts that name no owner are sent
// once. The suite holds all the same.
func SendTwice(rdb redis.UniversalClient) {
	if cluster, ok := rdb.(*redis.ClusterClient); ok {
		// rlock has clients of the nodes too.
		cluster.OnNewNode(func(node *redis.Client) { node.AddHook(twice{}) })
		return
	}
	rdb.AddHook(twice{})
}

// twice is SendTwice as a redis.Hook.
type twice struct{}

func (twice) DialHook(next redis.DialHook) redis.DialHook { return next }

func (twice) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if err := next(ctx, cmd); !again(cmd) || err != nil && strings.HasPrefix(err.Error(), "NOSCRIPT") {
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

// again leaves out the commands of package rlock that are sent once. It does not ask
// NoRetry, which rlock takes for a sending that failed.
func again(cmd redis.Cmder) bool {
	return strings.HasPrefix(cmd.Name(), "eval") && fmt.Sprintf("%T", cmd) != "rlock.onceCmd"
}
