package sender

import (
	"context"
	"time"

	"github.com/lockredis/lockredis/rlock/internal/retry"
)

// Node is the master of some keys. Nodes can be compared.
type Node struct{ s *server }

// NodeOf returns the master that has the key.
func (c *Sender) NodeOf(ctx context.Context, key string) (Node, error) {
	s, err := c.topo.serverFor(ctx, key)
	return Node{s}, err
}

// poolPatience is how long the calls of SendTogether at least wait for a connection of the pool.
const poolPatience = time.Second

// SendTogether sends the calls, which are for n, in one pipeline. It repeats nothing but what a
// connection that was broken before, or the pool, kept from the server. sent is the time before
// the calls were sent, answered says whether all have an answer.
func (c *Sender) SendTogether(
	ctx context.Context, n Node, calls []Call,
) (outcomes []Outcome, sent time.Time, answered bool) {
	began := time.Now()
	sent = began
	outcomes, broken := n.s.runAll(ctx, calls)
	for gotNoConnection(outcomes[0].Err) && time.Since(began) < poolPatience {
		retry.Sleep(ctx, poolPause(sent))
		sent = time.Now()
		outcomes, broken = n.s.runAll(ctx, calls)
	}
	if broken {
		c.Doubt()
	}
	var silent error
	for _, o := range outcomes {
		if !Answered(o.Err) {
			silent = o.Err
		}
	}
	if silent != nil {
		c.noAnswer(ctx, silent)
	}
	return outcomes, sent, silent == nil
}
