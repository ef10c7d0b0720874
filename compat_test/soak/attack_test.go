package soak

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"time"

	"github.com/lockredis/lockredis/compat_test/wire"
)

// attacks starts the hostile clients. Most of their replies are not checked, but a
// missing reply is a failure.
func (l *load) attacks() {
	if !wait(l.ctx, 10*time.Second) { // until the other clients have their connections
		return
	}
	l.repeat("cut frames", 20*time.Millisecond, l.cutFrame)
	l.repeat("deaths in all states", 50*time.Millisecond, l.die)
	l.repeat("pipelines that are never read", 3*time.Second, l.floodUnread)
	l.repeat("subscribers that do not read", time.Second, l.subscribeDeaf)
	l.repeat("long pipelines", time.Second, l.longPipeline)
	l.repeat("slow writers", time.Second, l.writeSlowly)
	l.repeat("script bombs", 2*time.Second, l.bomb)
	l.repeat("endless scripts", 10*time.Second, l.endless)
	noise, c := strings.Repeat("x", 64<<10), l.client(1)
	l.repeat("noise", 50*time.Millisecond, func() error {
		return patient(l.last, func() error { return c.Publish(l.last, "soak:noise", noise).Err() })
	})
}

func (l *load) dial() (*net.TCPConn, error) {
	nc, err := net.DialTimeout("tcp", l.addr, time.Minute)
	if err != nil {
		return nil, err
	}
	nc.SetDeadline(time.Now().Add(time.Minute))
	return nc.(*net.TCPConn), nil
}

// broken are frames that are sent whole, cut, or with one bit flipped.
var broken = []string{
	"*3\r\n$3\r\nSET\r\n$8\r\nsoak:cut\r\n$5\r\nvalue\r\n",
	"*2\r\n$9\r\nSUBSCRIBE\r\n$1\r\na\r\n*1\r\n$5\r\nMULTI\r\n",
	"*4\r\n$4\r\nEVAL\r\n$8\r\nreturn 1\r\n$1\r\n0\r\n$1\r\nx\r\n", "*1\r\n$9223372036854775807\r\n",
	"*2147483647\r\n$1\r\n",
	"GET / HTTP/1.1\r\n\r\n", "\x16\x03\x01\x02\x00\x01", "*1\r\n*1\r\n*1\r\n", "\"PING\r\n",
	strings.Repeat("x", 100000),
}

func (l *load) cutFrame() error {
	nc, err := l.dial()
	if err != nil {
		return err
	}
	frame := []byte(broken[rand.IntN(len(broken))])
	if rand.IntN(3) == 0 {
		frame[rand.IntN(len(frame))] ^= 1 << rand.IntN(8)
	}
	nc.Write(frame[:rand.IntN(len(frame)+1)])
	return l.end(nc)
}

// end closes a socket, mostly by a reset.
func (l *load) end(nc *net.TCPConn) error {
	if rand.IntN(4) > 0 {
		nc.SetLinger(0)
	}
	nc.Close()
	return nil
}

// die ends the connection without QUIT while the client is blocked, subscribed, in MULTI
// or watching.
func (l *load) die() error {
	nc, err := l.dial()
	if err != nil {
		return err
	}
	states := [][]string{{"BLPOP", "soak:nothing", "0"}, {"SUBSCRIBE", "soak:a", "soak:b"},
		{"PSUBSCRIBE", "soak:nothing*"},
		{"MULTI"}, {"WATCH", "soak:cut"}, {"CLIENT", "REPLY", "OFF"}, {"HELLO", "3"}}
	c := wire.NewConn(nc)
	if err := c.Send(states[rand.IntN(len(states))]...); err == nil {
		c.ReceiveWithin(10 * time.Millisecond)
	}
	return l.end(nc)
}

// floodUnread requests more than it reads, until the server cuts it off or it has sent
// enough.
func (l *load) floodUnread() error {
	nc, err := l.dial()
	if err != nil {
		return err
	}
	frame := []byte(strings.Repeat("*2\r\n$4\r\nECHO\r\n$100\r\n"+strings.Repeat("x", 100)+"\r\n",
		5000))
	nc.SetWriteDeadline(time.Now().Add(5 * time.Second))
	for range 70 { // more than the output limit
		if _, err := nc.Write(frame); err != nil {
			break
		}
	}
	return l.end(nc)
}

// subscribeDeaf subscribes to a busy channel and does not read.
func (l *load) subscribeDeaf() error {
	nc, err := l.dial()
	if err != nil {
		return err
	}
	nc.SetReadBuffer(4096)
	wire.NewConn(nc).Send("SUBSCRIBE", "soak:noise")
	wait(l.ctx, 20*time.Second)
	return l.end(nc)
}

// longPipeline sends all its commands first, then reads all replies.
func (l *load) longPipeline() error {
	nc, err := l.dial()
	if err != nil {
		return err
	}
	defer nc.Close()
	c := wire.NewConn(nc)
	const n = 5000
	if err := c.WriteRaw([]byte(strings.Repeat("*1\r\n$4\r\nPING\r\n", n))); err != nil {
		return err
	}
	for i := range n {
		r, err := c.ReceiveWithin(time.Minute)
		if err != nil || r.String() != "+PONG" && !strings.HasPrefix(r.String(), "-BUSY") {
			return fmt.Errorf("reply %d of a long pipeline: %s %w", i, r, err)
		}
	}
	return nil
}

// writeSlowly runs fifty clients that write one byte at a time.
func (l *load) writeSlowly() error {
	var slow []net.Conn
	defer func() {
		for _, nc := range slow {
			nc.Close()
		}
	}()
	for range 50 {
		nc, err := l.dial()
		if err != nil {
			return err
		}
		slow = append(slow, nc)
	}
	for _, b := range []byte("*1\r\n$4\r\nPING\r\n") {
		for _, nc := range slow {
			if _, err := nc.Write([]byte{b}); err != nil {
				return err
			}
		}
		if !wait(l.ctx, 100*time.Millisecond) {
			return nil
		}
	}
	return nil
}

// bombs are scripts that need much memory or time and end by themselves.
var bombs = []string{
	`return #string.rep('x', 2^23)`, `return #string.rep('x', 1e15)`,
	`local t = {} for i = 1, 1e5 do t[i] = {i} end return #t`,
	`local s = 'x' for i = 1, 24 do s = s .. s end return #s`,
	`return #cjson.encode(string.rep('\0', 1e6))`,
	`return cjson.decode(string.rep('[', 1e5))`, `return cmsgpack.unpack('\221\255\255\255\255')`,
	`local function f() return f() + 1 end return f()`,
	`return loadstring('return ' .. string.rep('{', 1e4))`,
	`return {string.rep('x', 2^22), string.rep('y', 2^22)}`, `local t = {} t[1] = t return t`,
	`for i = 1, 1000 do redis.call('SET', KEYS[1], string.rep('x', 10000)) end return redis.call('DEL', KEYS[1])`,
	`return string.format(string.rep('%99d', 1000), unpack({}))`,
	`local t = {} for i = 1, 2000 do t[i] = string.rep('x', 1000) end return #table.concat(t)`,
}

func (l *load) bomb() error {
	nc, err := l.dial()
	if err != nil {
		return err
	}
	defer nc.Close()
	c := wire.NewConn(nc)
	body := bombs[rand.IntN(len(bombs))]
	if err := c.Send("EVAL", body, "1", "soak:bomb"); err != nil {
		return err
	}
	_, err = c.ReceiveWithin(time.Minute)
	if err != nil {
		return fmt.Errorf("%s: no answer: %w", body, err)
	}
	return nil
}

// endlessScripts end only by SCRIPT KILL, or by the memory that they take.
var endlessScripts = []string{
	`while true do end`, `while true do pcall(function() while true do end end) end`,
	`while true do redis.call('GET', KEYS[1]) end`,
	`string.find(string.rep('a', 300000), '.-.-.-.-.-b')`,
	`coroutine.wrap(function() while true do end end)()`,
	`local t = {} while true do t[#t % 1000 + 1] = string.rep('x', 1000) end`,
	`while true do cjson.decode(cjson.encode({1, 2, 3})) end`,
}

// errUnkilled reports a script that SCRIPT KILL did not end.
var errUnkilled = errors.New("an endless script was not ended by SCRIPT KILL")

func (l *load) endless() error {
	l.calm.Lock()
	defer l.calm.Unlock()
	runner, err := l.dial()
	if err != nil {
		return err
	}
	defer runner.Close()
	killer, err := l.dial()
	if err != nil {
		return err
	}
	defer killer.Close()
	script, kill := wire.NewConn(runner), wire.NewConn(killer)
	if err := script.Send("EVAL", endlessScripts[rand.IntN(len(endlessScripts))], "1",
		"soak:endless"); err != nil {
		return err
	}
	for range 200 {
		r, err := kill.Do("SCRIPT", "KILL")
		if err != nil {
			return err
		}
		if text := r.String(); text != "+OK" && text != "-NOTBUSY No scripts in execution right now." &&
			!strings.HasPrefix(text, "-UNKILLABLE") {
			return fmt.Errorf("SCRIPT KILL: %s", text)
		}
		if r, err := script.ReceiveWithin(100 * time.Millisecond); err == nil {
			if !r.IsError() {
				return fmt.Errorf("an endless script answered %s", r)
			}
			return nil
		}
	}
	return errUnkilled
}
