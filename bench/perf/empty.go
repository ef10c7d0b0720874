//go:build linux

package main

import (
	"bytes"
	"fmt"
	"net"
	"syscall"
)

// An empty server is the limit for any server with a single loop: it reads, writes an
// answer for each PING, and does nothing else.
const emptyServer = "empty"

// serveEmpty serves at an address until the process is killed.
func serveEmpty(addr string) error {
	becomeSingle()
	e, err := newEmpty(addr)
	if err != nil {
		return err
	}
	for {
		if err := e.turn(); err != nil {
			return err
		}
	}
}

type empty struct {
	listener int
	poll     *poller
	in, out  []byte
}

var (
	ping = []byte("*1\r\n$4\r\nPING\r\n")
	pong = []byte("+PONG\r\n")
)

func newEmpty(addr string) (*empty, error) {
	tcp, err := net.ResolveTCPAddr("tcp4", addr)
	if err != nil {
		return nil, err
	}
	e := &empty{in: make([]byte, 16<<10), out: bytes.Repeat(pong, 16<<10/len(ping)+1)}
	if e.poll, err = newPoller(); err != nil {
		return nil, err
	}
	if e.listener, err = syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC,
		0); err != nil {
		return nil, err
	}
	// The search for a free port has bound this port a moment ago.
	if err := syscall.SetsockoptInt(e.listener, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1); err != nil {
		return nil, err
	}
	at := &syscall.SockaddrInet4{Port: tcp.Port, Addr: [4]byte(tcp.IP.To4())}
	if err := syscall.Bind(e.listener, at); err != nil {
		return nil, err
	}
	if err := syscall.Listen(e.listener, 1024); err != nil {
		return nil, err
	}
	return e, e.poll.watch(e.listener, e.listener)
}

// turn serves the sockets that are ready.
func (e *empty) turn() error {
	events, err := e.poll.wait()
	if err != nil {
		return err
	}
	for _, event := range events {
		fd := int(event.Fd)
		if fd == e.listener {
			fd, _, err := syscall.Accept4(e.listener, syscall.SOCK_CLOEXEC)
			if err != nil {
				return err
			}
			syscall.SetsockoptInt(fd, syscall.IPPROTO_TCP, syscall.TCP_NODELAY, 1)
			if err := e.poll.watch(fd, fd); err != nil {
				return err
			}
			continue
		}
		n, err := rawRead(fd, e.in)
		if err == nil {
			err = rawWrite(fd, e.out[:n/len(ping)*len(pong)])
		}
		if err != nil { // the client has closed the connection
			syscall.Close(fd)
		}
	}
	return nil
}

// besideEmpty notes how much of an empty server's throughput lockredis reaches.
func besideEmpty(b *bench) error {
	e, err := b.launch(emptyServer)
	if err != nil {
		return err
	}
	defer e.stop()
	if e.control, err = e.waitForPong(); err != nil {
		return err
	}
	for _, pipeline := range []int{1, 16} {
		all, err := alternate([]string{emptyServer, redisServer, lockredis}, b.rounds,
			func(name string) (figures, error) {
				s := e
				if name != emptyServer {
					var err error
					if s, err = b.server(name); err != nil {
						return nil, err
					}
				}
				return b.load(s, crowdSize, pipeline, nil, []step{{[]string{"PING"}, string(pong)}}, b.span)
			})
		if err != nil {
			return err
		}
		rate := func(name string) float64 { return median(all["rate"][name]) }
		b.note("PING, %d connections, pipeline %d, a second: %s by an empty server, "+
			"a loop that reads and writes and does nothing else; "+
			"lockredis reaches %s of that, redis-server %s.",
			crowdSize, pipeline, number(rate(emptyServer)), share(rate(lockredis)/rate(emptyServer)),
			share(rate(redisServer)/rate(emptyServer)))
	}
	return nil
}

func share(part float64) string { return fmt.Sprintf("%.0f %%", 100*part) }
