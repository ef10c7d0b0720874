package server

import (
	"bytes"
	"context"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/lockredis/lockredis/internal/config"
)

// sinkLink is a link that takes all bytes.
type sinkLink struct {
	link
	written string
	killed  bool
}

func (l *sinkLink) write(b []byte) (int, error) { l.written += string(b); return len(b), nil }
func (l *sinkLink) kill()                       { l.killed = true }

func newSinkOutput() (*output, *sinkLink) {
	l := &sinkLink{}
	o := &output{link: l, traffic: &traffic{}, enforce: func() {}}
	o.cond.L = &o.mu
	return o, l
}

func TestASingleByteOfOutputIsWritten(t *testing.T) {
	o, l := newSinkOutput()
	o.append([]byte("x"))
	o.Flush()
	if l.written != "x" || !o.empty() {
		t.Fatalf("%q was written, empty is %v", l.written, o.empty())
	}
}

func TestAClientThatHasReadBelowTheSoftLimitIsNotDisconnected(t *testing.T) {
	limit := config.OutputLimit{Soft: 4, SoftSeconds: 1}
	o, l := newSinkOutput()
	now := time.Unix(1000, 0)
	o.append([]byte("hello"))
	if o.exceeds(limit, now) {
		t.Fatal("disconnected when the soft limit was first exceeded")
	}
	o.Flush()
	for range 3 { // the check of the soft limit runs although there is no more output
		if now = now.Add(10 * time.Second); o.exceeds(limit, now) || l.killed {
			t.Fatal("disconnected without unread bytes")
		}
	}
	o.append([]byte("hello"))
	o.exceeds(limit, now)
	if !o.exceeds(limit, now.Add(1001*time.Millisecond)) || !l.killed {
		t.Fatal("not disconnected after the soft limit's time")
	}
}

// fullLink is a link whose socket takes no bytes until it is emptied.
type fullLink struct {
	sinkLink
	full bool
}

func (l *fullLink) write(b []byte) (int, error) {
	if l.full {
		return 0, nil
	}
	n := min(len(b), 5000)
	l.sinkLink.write(b[:n])
	return n, nil
}

func (l *fullLink) awaitWritable() {}
func (l *fullLink) allWritten()    {}

func newFullOutput() (*output, *fullLink) {
	o, _ := newSinkOutput()
	l := &fullLink{full: true}
	o.link = l
	return o, l
}

func TestWaitingOutputIsWrittenInOrder(t *testing.T) {
	o, l := newFullOutput()
	var want []byte
	for i := range 2000 {
		reply := bytes.Repeat([]byte{byte('a' + i%26)}, i*i%700)
		if i%100 == 0 {
			reply = bytes.Repeat(reply, 200)
		}
		want = append(want, reply...)
		if _, size, ok := o.append(reply); size != len(want)-len(l.written) || !ok {
			t.Fatalf("after %d replies: %d unread bytes, want %d", i, size, len(want)-len(l.written))
		}
		o.Flush()
		if l.full = i%3 != 0; !l.full && i > 1000 {
			o.resume()
		}
	}
	for l.full = false; !o.empty(); {
		o.resume()
	}
	if l.written != string(want) {
		t.Errorf("%d bytes are written, want %d in their order", len(l.written), len(want))
	}
}

// A queue of one slice would allocate several times the bytes while it grows.
func TestWaitingOutputAllocatesLittleMoreThanItsBytes(t *testing.T) {
	const replies, size = 400, 20_000
	o, _ := newFullOutput()
	reply := make([]byte, size)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range replies {
		o.append(reply)
		o.Flush()
	}
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > replies*size*13/10 {
		t.Errorf("%d bytes are allocated for %d", got, replies*size)
	}
}

func TestASmallOutputLimitIsKept(t *testing.T) {
	s := newTestServer(t)
	nc, err := s.Dial(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	nc.Write([]byte("CONFIG SET client-output-buffer-limit \"normal 100 0 0\"\r\n"))
	reply(t, nc, "+OK\r\n")
	nc.Write([]byte("ECHO " + strings.Repeat("x", 200) + "\r\n"))
	if n, err := io.ReadFull(nc, make([]byte, 200)); err == nil {
		t.Errorf("%d bytes were sent", n)
	}
}
