package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/lockredis/lockredis/rlock"
)

// ErrNotOpen is the error for an order that is not open at this station. It was never
// opened here, or its packingTime is over.
var ErrNotOpen = errors.New("not open at this station")

// packingTime is how long an order stays locked after the last scan. After that the
// order can be shipped, even if the station does not close it.
const packingTime = 2 * time.Minute

// Packing keeps orders locked while a person packs them. Open, Scan and Done are separate
// requests, so the lock is held from one request to a later one. Do cannot do that, but
// Acquire returns a Hold.
type Packing struct {
	locks *rlock.Client

	mu   sync.Mutex // guards open
	open map[string]*rlock.Hold
}

// Open locks an order for this station. It does not wait: rlock.ErrTimeout means that
// the order is open elsewhere, or is being shipped.
//
// The hold's context descends from Acquire's context. The hold lasts longer than the
// request, so WithoutCancel separates it from the end of the request.
func (p *Packing) Open(ctx context.Context, id string) error {
	h, err := p.locks.Lock(lockName(id)).Acquire(context.WithoutCancel(ctx),
		rlock.Wait(0), rlock.Lease(packingTime))
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open == nil {
		p.open = map[string]*rlock.Hold{}
	}
	p.open[id] = h // replaces a hold that was lost, if any
	return nil
}

// Scan keeps the order locked for another packingTime.
func (p *Packing) Scan(ctx context.Context, id string) error {
	p.mu.Lock()
	h := p.open[id]
	p.mu.Unlock()
	if h == nil {
		return ErrNotOpen
	}
	return notOpen(h.Extend(ctx, packingTime))
}

// Done unlocks the order. ErrNotOpen means that packingTime was over before. Then another
// station may have packed the order too.
func (p *Packing) Done(ctx context.Context, id string) error {
	p.mu.Lock()
	h := p.open[id]
	delete(p.open, id)
	p.mu.Unlock()
	if h == nil {
		return ErrNotOpen
	}
	return notOpen(h.Release(ctx))
}

// notOpen returns ErrNotOpen for a hold that was lost, or that another call of Done has
// released.
func notOpen(err error) error {
	if errors.Is(err, rlock.ErrLockLost) || errors.Is(err, rlock.ErrNotHeld) {
		return ErrNotOpen
	}
	return err
}
