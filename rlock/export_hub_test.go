package rlock

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// Hub is a hub without a Client.
type Hub struct{ h *hub }

// Waiter is a waiter of a Hub.
type Waiter struct{ w *waiter }

// NewHub returns a hub. sharded means sharded pub/sub, also where the topology has
// none.
func NewHub(rdb redis.UniversalClient, sharded bool, onReconnect func()) *Hub {
	topo := topologyOf(rdb, Options{Sync: SyncOff})
	topo.sharded = topo.sharded || sharded
	h := newHub(rdb, topo)
	h.onReconnect = onReconnect
	return &Hub{h}
}

func (h *Hub) Close()             { h.h.close(context.Background()) }
func (h *Hub) Watch(key string)   { h.h.watch(key) }
func (h *Hub) Unwatch(key string) { h.h.unwatch(key) }

func (h *Hub) Join(channel string, all bool) (Waiter, error) {
	w, err := h.h.join(channel, all)
	return Waiter{w}, err
}

func (w Waiter) Ready() <-chan struct{} { return w.w.topic.ready }
func (w Waiter) Wake() <-chan struct{}  { return w.w.wake }
func (w Waiter) Leave()                 { w.w.leave() }
func (w Waiter) WakeNext()              { w.w.wakeNext() }

// Woken reports whether the waiter has a wake-up, and keeps it.
func (w Waiter) Woken() bool { return len(w.w.wake) > 0 }
