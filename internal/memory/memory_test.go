package memory

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/lockredis/lockredis/expiry"
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/config"
	"github.com/lockredis/lockredis/internal/nohost"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

// steppingClock advances by a millisecond each time it is read.
type steppingClock struct{ *expiry.Manual }

func (c steppingClock) Now() time.Time {
	c.Advance(time.Millisecond)
	return c.Manual.Now()
}

// host is an engine with nothing but its lock.
type host struct {
	command.Parking
	store.Observer

	mu       sync.Mutex
	ending   bool
	frozen   bool
	overhead int64
	env      command.Env
	limit    *Limit
	purges   *Purges
	done     sync.WaitGroup
	served   []*command.Parked
}

func newHost(t *testing.T) *host {
	h := &host{}
	cfg := config.New()
	h.env = command.Env{
		Space: store.NewSpace(cfg.Databases, h), Config: cfg, Server: nohost.Host{}, Parking: h,
		Clock: steppingClock{expiry.NewManual(time.UnixMilli(1_700_000_000_000))},
		Rand:  rand.New(rand.NewPCG(1, 2)),
	}
	h.beginUnit()
	h.limit = NewLimit(h, &h.env, 0)
	h.purges = NewPurges(h, &h.env, &h.done)
	t.Cleanup(h.done.Wait)
	return h
}

func (h *host) Outside(unit func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	unit()
}

func (h *host) Ending() bool           { return h.ending }
func (h *host) Overhead() int64        { return h.overhead }
func (h *host) Attend()                {}
func (h *host) Frozen() bool           { return h.frozen }
func (h *host) Park(p *command.Parked) { p.Session.Parked = p }
func (h *host) Touched(int, string)    {}
func (h *host) Added(int, string)      {}
func (h *host) Renewed(int, string)    {}
func (h *host) Evicted(int, string)    {}

func (h *host) Serve(p *command.Parked, _ resp.Reply) {
	p.Session.Parked = nil
	h.served = append(h.served, p)
}

// beginUnit reads the clock.
func (h *host) beginUnit() {
	now := h.env.Clock.Now()
	h.env.Micros = now.UnixMicro()
	h.env.Space.SetNow(now.UnixMilli())
}

// fill sets n keys of the same size.
func (h *host) fill(n int) {
	for i := range n {
		h.env.Space.DB(0).Set(fmt.Appendf(nil, "key:%06d", i), store.ParseString([]byte("value")))
	}
}

// keys returns how many keys there are.
func (h *host) keys() int { return h.env.Space.DB(0).Len() }

// follow sets maxmemory and its policy.
func (h *host) follow(maxMemory int64, policy string) {
	h.env.Config.MaxMemory, h.env.Config.Eviction.Policy = maxMemory, policy
	h.limit.Choose(h.env.Config.Eviction)
	h.limit.Follow()
}

// exceeded asks in a unit of its own.
func (h *host) exceeded() bool {
	h.beginUnit()
	h.limit.BeginUnit()
	return h.limit.Exceeded()
}

// fire does all work of the timer, and returns the number of units.
func (h *host) fire() (units int) {
	for more := true; more; units++ {
		h.beginUnit()
		more = h.limit.Fire(h.env.Space.Now())
	}
	return units
}
