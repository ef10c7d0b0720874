//go:build plantedbugs

package differential

import (
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/lockredis/lockredis/compat_test/wire"
)

// bug is one planted bug. Nil functions change nothing.
type bug struct {
	name string
	// rewrite returns the command that the server gets instead.
	rewrite func(args []string) []string
	// after returns commands that the proxy sends after it. The client does not get their
	// replies.
	after func(args []string) [][]string
	// answer returns the reply that the client gets instead, as bytes.
	answer func(args []string, v wire.Value) []byte
	// swallow reports whether a subscriber does not get a message.
	swallow func(v wire.Value) bool
}

// proxy stands between a client and the server and plants one bug. Each connection has at
// most two goroutines. They end with their connections, which close closes.
type proxy struct {
	bug    bug
	server string
	ln     net.Listener

	mu    sync.Mutex // guards conns
	conns []io.Closer
	wg    sync.WaitGroup
}

// startProxy runs a proxy in front of the server until the end of the test.
func startProxy(t *testing.T, server string, b bug) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{bug: b, server: server, ln: ln}
	p.wg.Go(p.accept)
	t.Cleanup(p.close)
	return ln.Addr().String()
}

func (p *proxy) close() {
	p.ln.Close()
	p.mu.Lock()
	for _, c := range p.conns {
		c.Close()
	}
	p.mu.Unlock()
	p.wg.Wait()
}

func (p *proxy) keep(c io.Closer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conns = append(p.conns, c)
}

func (p *proxy) accept() {
	for {
		nc, err := p.ln.Accept()
		if err != nil {
			return
		}
		client := wire.NewConn(nc)
		server, err := wire.Dial(p.server)
		if err != nil {
			client.Close()
			return
		}
		client.SetTimeout(0)
		server.SetTimeout(0)
		p.keep(client)
		p.keep(server)
		p.wg.Go(func() {
			defer client.Close()
			defer server.Close()
			p.serve(client, server)
		})
	}
}

// serve passes on command after command. A connection that subscribes only receives from
// then on.
func (p *proxy) serve(client, server *wire.Conn) {
	multi, listening := false, false
	for {
		v, err := client.Receive()
		if err != nil {
			return
		}
		args := words(v)
		name := strings.ToUpper(args[0])
		if strings.HasSuffix(name, "SUBSCRIBE") {
			if !listening {
				listening = true
				p.wg.Go(func() { p.listen(client, server) })
			}
			if server.Send(args...) != nil {
				return
			}
			continue
		}
		if err := p.pass(client, server, args, multi); err != nil {
			return
		}
		multi = name == "MULTI" || multi && name != "EXEC" && name != "DISCARD" && name != "RESET"
	}
}

func words(v wire.Value) []string {
	args := make([]string, len(v.Elems))
	for i, e := range v.Elems {
		args[i] = string(e.Str)
	}
	return args
}

// pass sends one command with the bug in it and returns the reply.
func (p *proxy) pass(client, server *wire.Conn, args []string, multi bool) error {
	var wrap []string
	inner := args
	if len(args) > 3 && args[0] == "EVAL" && strings.Contains(args[1], "(unpack(ARGV))") {
		wrap, inner = args[:3:3], args[3:]
	}
	if p.bug.rewrite != nil {
		args = append(wrap, p.bug.rewrite(inner)...)
	}
	v, err := ask(client, server, args)
	if err != nil {
		return err
	}
	if p.bug.after != nil && !multi {
		for _, extra := range p.bug.after(inner) {
			if _, err := ask(client, server, extra); err != nil {
				return err
			}
		}
	}
	out := v.Raw
	if p.bug.answer != nil && !multi {
		if wrap == nil {
			inner = args
		}
		out = p.bug.answer(inner, v)
	}
	return client.WriteRaw(out)
}

// ask sends a command and returns its reply. Invalidations in front of the reply go to the
// client.
func ask(client, server *wire.Conn, args []string) (wire.Value, error) {
	v, err := server.Do(args...)
	for err == nil && v.Kind == wire.Push && string(v.Elems[0].Str) == "invalidate" {
		if err = client.WriteRaw(v.Raw); err == nil {
			v, err = server.Receive()
		}
	}
	return v, err
}

func (p *proxy) listen(client, server *wire.Conn) {
	for {
		v, err := server.Receive()
		if err != nil {
			return
		}
		if p.bug.swallow != nil && p.bug.swallow(v) {
			continue
		}
		if client.WriteRaw(v.Raw) != nil {
			return
		}
	}
}
