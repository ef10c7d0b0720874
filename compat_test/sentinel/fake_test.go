package sentinel

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/lockredis/lockredis/resp"
)

// fake is a primary, or another Sentinel, as the Sentinel under test sees it. It answers as
// its mode says.
type fake struct {
	name string
	w    world
	addr string

	mu          sync.Mutex // guards the fields below
	mode        string
	replies     map[string]string // to commands, encoded; by the first two words in lower case
	runID       string
	replication string // the section Replication of INFO, "": as the mode says
	closed      bool   // see closeAll
	conns       map[net.Conn]*purpose
	subscribers []net.Conn
	seen        [][]string // the different commands of each purpose, in order
	listener    net.Listener
	done        sync.WaitGroup
}

// purpose is what a connection is for: commands or the hello channel.
type purpose struct{ subscribes bool }

func newFake(w world, name, addr string) (*fake, error) {
	f := &fake{name: name, w: w, addr: addr, mode: "up",
		conns: map[net.Conn]*purpose{}, replies: map[string]string{},
		runID: strings.Repeat("a", 40), seen: make([][]string, 2)}
	return f, f.listen()
}

// listen accepts connections until the listener closes.
func (f *fake) listen() error {
	ln, err := f.w.listen(f.addr)
	if err != nil {
		return err
	}
	f.mu.Lock()
	f.listener, f.closed = ln, false
	f.mu.Unlock()
	f.done.Go(func() {
		for {
			nc, err := ln.Accept()
			if err != nil {
				return
			}
			f.mu.Lock()
			f.conns[nc] = &purpose{}
			if f.closed {
				nc.Close()
			}
			f.mu.Unlock()
			f.done.Go(func() { f.serve(nc) })
		}
	})
	return nil
}

// closeAll closes the listener and all connections.
func (f *fake) closeAll() {
	f.mu.Lock()
	f.closed = true // a connection may be accepted now
	f.listener.Close()
	f.mu.Unlock()
	f.closeConns()
	f.done.Wait()
}

func (f *fake) closeConns() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for nc := range f.conns {
		nc.Close()
	}
}

// set changes the mode. A fake that was silent loses its connections: its next replies would be taken for
// those that it has never sent.
func (f *fake) set(mode string) error {
	f.mu.Lock()
	was := f.mode
	f.mode = mode
	if mode == "restarted" {
		f.mode, f.runID = "up", strings.Repeat("b", 40)
	}
	f.mu.Unlock()
	switch {
	case mode == "down":
		f.closeAll()
	case was == "down":
		return f.listen()
	case was == "silent" && mode != was:
		f.closeConns()
	}
	return nil
}

// serve answers the commands of one connection.
func (f *fake) serve(nc net.Conn) {
	defer func() {
		nc.Close()
		f.mu.Lock()
		delete(f.conns, nc)
		f.subscribers = slices.DeleteFunc(f.subscribers, func(c net.Conn) bool { return c == nc })
		f.mu.Unlock()
	}()
	var r resp.Reader
	for {
		n, err := nc.Read(r.Space())
		if err != nil {
			return
		}
		r.Advance(n)
		for {
			args, ok, err := r.Next(resp.Limits{MaxBulk: 1 << 20})
			if err != nil {
				return
			}
			if !ok {
				break
			}
			words := make([]string, len(args))
			for i := range args {
				words[i] = args.String(i)
			}
			reply := f.answer(nc, words)
			f.write(nc, reply)
			if strings.HasPrefix(reply, subscribed) {
				f.subscribe(nc)
			}
		}
	}
}

// write sends what the fake answers. An error means that the connection has ended, which the
// reader notices.
func (f *fake) write(nc net.Conn, text string) {
	if text != "" {
		nc.Write([]byte(text))
	}
}

// info is the reply to INFO.
func (f *fake) info() string {
	text := "# Server\r\nredis_version:7.0.15\r\nrun_id:" + f.runID + "\r\n# Replication\r\n"
	switch {
	case f.replication != "":
		text += strings.ReplaceAll(f.replication, "\n", "\r\n") + "\r\n"
	case f.mode == "replica":
		text += "role:slave\r\nmaster_host:127.0.0.1\r\nmaster_port:1\r\nmaster_link_status:up\r\n"
	default:
		text += "role:master\r\nconnected_slaves:0\r\n"
	}
	return bulk(text)
}

func bulk(text string) string { return "$" + strconv.Itoa(len(text)) + "\r\n" + text + "\r\n" }

// answer returns the reply to a command, "" for none.
func (f *fake) answer(nc net.Conn, words []string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	command := strings.ToLower(words[0])
	f.note(nc, command, words)
	if len(words) > 1 {
		if reply, ok := f.replies[command+" "+strings.ToLower(words[1])]; ok {
			return reply
		}
	}
	switch f.mode {
	case "silent":
		return ""
	case "noauth":
		if command == "auth" {
			return "-WRONGPASS invalid username-password pair or user is disabled.\r\n"
		}
		return "-NOAUTH Authentication required.\r\n"
	case "loading", "busy", "masterdown", "odd":
		if command == "ping" {
			return map[string]string{
				"loading":    "-LOADING Redis is loading the dataset in memory\r\n",
				"busy":       "-BUSY Redis is busy running a script.\r\n",
				"masterdown": "-MASTERDOWN Link with MASTER is down\r\n",
				"odd":        "+PANG\r\n",
			}[f.mode]
		}
	}
	switch command {
	case "ping":
		return "+PONG\r\n"
	case "info":
		return f.info()
	case "publish":
		f.publish(words[2])
		return fmt.Sprintf(":%d\r\n", len(f.subscribers))
	case "subscribe":
		return subscribed + bulk(words[1]) + ":1\r\n"
	case "script":
		f.mode = "up"
	}
	return "+OK\r\n"
}

// subscribed is the begin of the reply to SUBSCRIBE.
const subscribed = "*3\r\n$9\r\nsubscribe\r\n"

// subscribe makes nc receive hellos. Its SUBSCRIBE is answered.
func (f *fake) subscribe(nc net.Conn) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.subscribers = append(f.subscribers, nc)
}

// publishWhenHeard waits until there is a subscriber, and sends it a hello.
func (f *fake) publishWhenHeard(text string) error {
	return poll(patience, func() (done bool, err error) {
		f.mu.Lock()
		defer f.mu.Unlock()
		if len(f.subscribers) == 0 {
			return false, errors.New("publish a hello: there is no subscriber")
		}
		f.publish(text)
		return true, nil
	})
}

// publish sends a hello to all subscribers. f.mu is held.
func (f *fake) publish(text string) {
	for _, nc := range f.subscribers {
		message := "*3\r\n$7\r\nmessage\r\n" + bulk("__sentinel__:hello") + bulk(text)
		f.done.Go(func() { f.write(nc, message) })
	}
}

// note records a command that the fake has not seen before on a connection of that purpose. Of
// the hellos it records the first.
func (f *fake) note(nc net.Conn, command string, words []string) {
	p := f.conns[nc]
	if p == nil {
		return
	}
	line := strings.Join(words, " ")
	if command == "subscribe" || command == "client" && strings.HasSuffix(line, "-pubsub") {
		p.subscribes = true
	}
	i := 0
	if p.subscribes {
		i = 1
	}
	hello := func(line string) bool { return strings.HasPrefix(line, "PUBLISH ") }
	if hello(line) && slices.ContainsFunc(f.seen[i], hello) {
		return
	}
	if command != "auth" && !slices.Contains(f.seen[i], line) {
		f.seen[i] = append(f.seen[i], line)
	}
	if command == "auth" && !slices.Contains(f.seen[0], line) { // before its purpose is known
		f.seen[0] = append(f.seen[0], line)
	}
}

// log returns what note has recorded.
func (f *fake) log() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out strings.Builder
	for i, kind := range []string{"commands", "hellos"} {
		for _, line := range f.seen[i] {
			out.WriteString(kind + ": " + line + "\n")
		}
	}
	return out.String()
}
