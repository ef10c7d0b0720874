package hub

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/rlock/internal/retry"
)

// Hub subscribes to each channel that has waiters in this client, and wakes the
// waiters when a message arrives. It also keeps a connection to the server of each
// watched key, so that the loss of that connection is noticed at once.
//
// Outside a cluster all topics share one connection (a feed). In a cluster there is
// one feed for each master, because sharded messages are published on the node of
// the channel's slot.
type Hub struct {
	// onReconnect is called after a feed was connected again, because a server that
	// was restarted or replaced may have lost keys. It is also called when a topic
	// moved to another master, or its slot moved. It must not block, and may call the hub. nil means
	// no call.
	onReconnect func()

	rdb    Subscriber // the server of all channels, if it is a single one
	nodes  Nodes
	ctx    context.Context // ends with Close
	stop   context.CancelFunc
	noDial context.Context // has ended, see connection

	running sync.WaitGroup // the hub's goroutines

	// mu guards the fields below, and the fields of feeds, connections, topics and
	// waiters. No network call is made while it is locked.
	mu       sync.Mutex
	closed   bool
	topics   map[string]*topic // by channel
	watched  map[string]*topic // by key
	feeds    map[string]*feed  // by the node's address; "" outside a cluster
	unplaced []*topic          // topics of a cluster whose node is not known yet
	placing  bool              // placeAll runs

	slotMoved time.Time // when a server last ended a subscription because its slot moved
}

// Nodes are the servers that publish a hub's channels.
type Nodes interface {
	// Single reports whether all channels are on one server. If not, they are on the masters of a
	// cluster.
	Single() bool
	// Master returns the master of a channel, or of a key, of a cluster.
	Master(ctx context.Context, channel string) (*redis.Client, error)
	// Reload makes the cluster's slot map be loaded again. It does not wait for that.
	Reload(ctx context.Context)
	// Sharded reports whether the channels are sharded.
	Sharded() bool
}

// Subscriber is a redis.Client, or any client of one server.
type Subscriber interface {
	Subscribe(ctx context.Context, channels ...string) *redis.PubSub
	SSubscribe(ctx context.Context, channels ...string) *redis.PubSub
}

// New returns a hub without connections. rdb is the server of all channels if nodes has a single
// one, else it is not used. onReconnect is Hub's.
func New(rdb Subscriber, nodes Nodes, onReconnect func()) *Hub {
	h := &Hub{rdb: rdb, nodes: nodes, onReconnect: onReconnect,
		topics: map[string]*topic{}, watched: map[string]*topic{}, feeds: map[string]*feed{}}
	h.ctx, h.stop = context.WithCancel(context.Background())
	noDial, cancel := context.WithCancel(context.Background())
	cancel()
	h.noDial = noDial
	return h
}

// closeTimeout is how long Close waits for a connection that is being opened.
// go-redis cannot interrupt a TLS handshake or the first reply of a server.
const closeTimeout = 200 * time.Millisecond

// Close ends all feeds. It waits for the hub's goroutines until ctx ends, at most
// closeTimeout. A goroutine that is left is connecting to a server that hangs. It
// ends at the latest after the client's DialTimeout and replyWithin. Waiters are not
// woken. A second Close does the same.
func (h *Hub) Close(ctx context.Context) {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.stop()
	done := make(chan struct{})
	go func() {
		h.running.Wait()
		close(done)
	}()
	timer := time.NewTimer(closeTimeout)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// Join adds a waiter to channel and subscribes to the channel if it has no topic
// yet. A message wakes every waiter that is shared, and the first of the others.
// It returns nil when the hub is closed. It does not block.
func (h *Hub) Join(channel string, shared bool) *Waiter {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil
	}
	t := h.topics[channel]
	if t == nil {
		t = &topic{hub: h, name: channel, ready: make(chan struct{})}
		h.topics[channel] = t
		h.place(t)
	}
	w := &Waiter{topic: t, shared: shared, wake: make(chan struct{}, 1)}
	t.waiters = append(t.waiters, w)
	if t.denied != nil {
		w.signal()
	}
	return w
}

// Watch keeps a connection to key's server until Unwatch is called as often as
// Watch. The connection needs no channel: PING shows that it lives. After Close,
// Watch does nothing. It does not block.
func (h *Hub) Watch(key string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return
	}
	t := h.watched[key]
	if t == nil {
		t = &topic{hub: h, name: key}
		h.watched[key] = t
		h.place(t)
	}
	t.watches++
}

// Unwatch ends one Watch of key. A key that is not watched is ignored.
func (h *Hub) Unwatch(key string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.watched[key]
	if t == nil {
		return
	}
	if t.watches--; t.watches == 0 {
		delete(h.watched, key)
		t.end()
	}
}

// perNode reports whether each master has a feed of its own.
func (h *Hub) perNode() bool { return !h.nodes.Single() }

// place gives t to the feed of its server. In a cluster placeAll does that, because
// the slot map may have to be loaded first.
func (h *Hub) place(t *topic) {
	if !h.perNode() {
		h.attach(t, "", h.rdb)
		return
	}
	h.unplaced = append(h.unplaced, t)
	if !h.placing {
		h.placing = true
		h.running.Go(h.placeAll)
	}
}

// placeAll places the unplaced topics. It tries again until the cluster's slot map
// is loaded.
func (h *Hub) placeAll() {
	for failures := 0; h.ctx.Err() == nil; {
		todo := h.takeUnplaced()
		if len(todo) == 0 {
			return
		}
		failed := slices.DeleteFunc(todo, func(t *topic) bool { return h.placeOn(t, failures > 0) })
		if len(failed) == 0 {
			failures = 0
			continue
		}
		failures++
		h.mu.Lock()
		h.unplaced = append(failed, h.unplaced...)
		h.mu.Unlock()
		retry.Sleep(h.ctx, retry.Backoff(failures))
	}
}

// takeUnplaced returns the topics to place. If there are none, placeAll ends and the
// next place starts it again.
func (h *Hub) takeUnplaced() []*topic {
	h.mu.Lock()
	defer h.mu.Unlock()
	todo := h.unplaced
	h.unplaced = nil
	h.placing = len(todo) > 0
	return todo
}

// placeOn gives t to the feed of its master, also if t has a feed of another node.
// With verify, or if t leaves another feed, onReconnect is called. It reports false
// if the master is not known.
func (h *Hub) placeOn(t *topic, verify bool) bool {
	master, err := h.nodes.Master(h.ctx, t.name)
	if err != nil {
		return false
	}
	addr := master.Options().Addr
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case t.ended:
	case t.feed != nil && t.feed.addr == addr:
		t.feed.node = master // may be a new go-redis client of the same address
	default:
		if t.feed != nil {
			verify = verify || t.confirmed || t.watches > 0
			t.detach()
		}
		f := h.attach(t, addr, master)
		f.verify = f.verify || verify
	}
	return true
}

// attach gives t to the feed of the node at addr, and opens the feed if needed.
func (h *Hub) attach(t *topic, addr string, on Subscriber) *feed {
	f := h.feeds[addr]
	if f == nil {
		f = &feed{hub: h, addr: addr, topics: map[*topic]bool{}, wakeup: make(chan struct{}, 1)}
		h.feeds[addr] = f
		h.running.Go(f.run)
	}
	f.node = on
	f.topics[t] = true
	t.feed = f
	f.changed(t.name)
	return f
}
