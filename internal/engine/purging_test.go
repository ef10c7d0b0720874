package engine

import (
	"testing"

	"github.com/lockredis/lockredis/internal/nohost"
)

// slowHost is a host whose collection takes until the test ends it.
type slowHost struct {
	nohost.Host
	began, end chan struct{}
}

func (h slowHost) Purge() {
	h.began <- struct{}{}
	<-h.end
}

// A collection of millions of keys takes a second. Forty clients that purge may not keep the
// others waiting for forty of them.
func TestClientsThatPurgeShareACollectionAndKeepNoOneWaiting(t *testing.T) {
	e, _ := newClocked(t)
	host := slowHost{began: make(chan struct{}), end: make(chan struct{})}
	e.env.Server = host
	other, _ := connect(e)
	var replies []*tape
	purge := func() {
		s, p := connect(e)
		replies = append(replies, p)
		expectReply(t, send(e, s, "MEMORY", "PURGE"), "")
	}
	purge()
	<-host.began
	expectReply(t, send(e, other, "PING"), "+PONG\r\n")
	for range 40 {
		purge()
	}
	expectReply(t, send(e, other, "EVAL", "return redis.call('MEMORY', 'PURGE')", "0"), "+OK\r\n")
	host.end <- struct{}{}
	<-host.began
	expectReply(t, replies[0].await(t), "+OK\r\n")
	for _, p := range replies[1:] {
		expectReply(t, p.take(), "")
	}
	host.end <- struct{}{}
	for _, p := range replies[1:] {
		expectReply(t, p.await(t), "+OK\r\n")
	}
}

func TestAScriptThatPurgesDoesNotWait(t *testing.T) {
	e, _ := newClocked(t)
	host := slowHost{began: make(chan struct{}), end: make(chan struct{})}
	e.env.Server = host
	s, _ := connect(e)
	expectReply(t, send(e, s, "EVAL", "return redis.call('MEMORY', 'PURGE')", "0"), "+OK\r\n")
	<-host.began
	host.end <- struct{}{}
}
