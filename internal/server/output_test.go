package server

import (
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
	o.flush()
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
	o.flush()
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
