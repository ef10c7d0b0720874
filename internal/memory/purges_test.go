package memory

import (
	"testing"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/nohost"
)

// slowServer is a server whose collection takes until the test ends it.
type slowServer struct {
	nohost.Host
	began, end chan struct{}
}

func (s slowServer) Purge() {
	s.began <- struct{}{}
	<-s.end
}

// purge has a new client purge.
func (h *host) purge() {
	h.Outside(func() {
		h.purges.Begin(&command.Ctx{Env: &h.env, Session: &command.Session{}, DB: h.env.Space.DB(0)})
	})
}

// A collection of millions of keys takes a second. Forty clients that purge may not keep the
// others waiting for forty of them.
func TestClientsThatPurgeShareACollectionAndKeepNoOneWaiting(t *testing.T) {
	h := newHost(t)
	server := slowServer{began: make(chan struct{}), end: make(chan struct{})}
	h.env.Server = server
	expect := func(served int) {
		t.Helper()
		h.Outside(func() {
			if len(h.served) != served {
				t.Errorf("%d clients are served, want %d", len(h.served), served)
			}
		})
	}
	h.purge()
	<-server.began
	for range 40 {
		h.purge()
	}
	h.Outside(h.purges.Schedule) // as a script does, which does not wait
	expect(0)
	server.end <- struct{}{}
	<-server.began
	expect(1)
	server.end <- struct{}{}
	h.done.Wait()
	expect(41)
	if h.purges.Running() {
		t.Error("a third purge is running")
	}
}

func TestNoPurgeBeginsWhenTheServerEnds(t *testing.T) {
	h := newHost(t)
	server := slowServer{began: make(chan struct{}), end: make(chan struct{})}
	h.env.Server = server
	h.purge()
	<-server.began
	h.purge()
	h.Outside(func() { h.ending = true })
	server.end <- struct{}{}
	h.done.Wait()
	if h.purges.Running() {
		t.Error("another purge is running")
	}
}
