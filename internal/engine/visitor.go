package engine

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
)

// Visitor is one connection of the process that controls the server. Its commands have the rights of
// RunDirect, but they may wait, as LOCK.AWAIT does. No client sees a Visitor. One goroutine uses it.
type Visitor struct {
	e       *Engine
	session command.Session
	pieces  []byte      // of the reply to a command that waits
	replies chan []byte // complete replies
}

// Visit returns a visitor on database 0, whose replies are RESP2.
func (k Kit) Visit() *Visitor {
	v := &Visitor{e: k.e, replies: make(chan []byte, 1)}
	v.session.Addr, v.session.Proto, v.session.Visitor = "visitor", 2, true
	v.session.Conn = (*visitorConn)(v)
	v.session.Authenticated.Store(true)
	return v
}

// Run runs a command. Its reply comes by Replies. Until then no other command may run. While a busy
// script runs, the reply to most commands is that to clients, -BUSY.
func (v *Visitor) Run(args resp.Args) {
	run := func() {
		reply := v.e.Kit().direct(&v.session, args)
		if v.session.Parked == nil {
			v.replies <- resp.Append(nil, reply, 2)
		}
	}
	v.e.Do(&Caller{}, func() {
		if v.e.midway {
			run()
			return
		}
		v.e.readClock()
		run()
		v.e.parking.serveReady()
	})
}

// Replies gives the encoded replies.
func (v *Visitor) Replies() <-chan []byte { return v.replies }

// Leave ends the visit, and the wait of a command.
func (v *Visitor) Leave() {
	v.e.Outside(func() {
		v.session.Move(command.Gone)
		v.e.forget(&v.session)
	})
}

// visitorConn is a Visitor as the connection of its session. It gets the reply when a wait ends.
type visitorConn Visitor

func (v *visitorConn) Write(encoded []byte) bool {
	v.pieces = append(v.pieces, encoded...)
	return true
}

func (v *visitorConn) Wake() {
	v.replies <- v.pieces
	v.pieces = nil
}

func (v *visitorConn) Kill() {}

func (v *visitorConn) Sizes(bool) (none command.Buffers) { return none }
