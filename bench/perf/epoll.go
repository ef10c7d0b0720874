//go:build linux

package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"syscall"
	"time"
	"unsafe"
)

// The load must cost little CPU, and the same for every server: on a shared machine the
// server lacks the CPU that the load uses. So a role that measures is one thread that
// calls the kernel itself, as redis-benchmark is. No scheduler stands between a socket
// and its reader, and there is no garbage collection.

// becomeSingle locks the goroutine to its thread and turns garbage collection off.
func becomeSingle() {
	runtime.LockOSThread()
	debug.SetGCPercent(-1)
}

// rawDial connects a blocking socket.
func rawDial(addr string) (int, error) {
	tcp, err := net.ResolveTCPAddr("tcp4", addr)
	if err != nil {
		return 0, err
	}
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, os.NewSyscallError("socket", err)
	}
	to := &syscall.SockaddrInet4{Port: tcp.Port}
	copy(to.Addr[:], tcp.IP.To4())
	if err := syscall.Connect(fd, to); err != nil {
		return 0, os.NewSyscallError("connect", err)
	}
	// Without the reset, ten thousand closed sockets would stay in TIME_WAIT and keep the
	// ports that the next round needs.
	reset := &syscall.Linger{Onoff: 1}
	return fd, errors.Join(syscall.SetsockoptLinger(fd, syscall.SOL_SOCKET, syscall.SO_LINGER, reset),
		syscall.SetsockoptInt(fd, syscall.IPPROTO_TCP, syscall.TCP_NODELAY, 1))
}

// rawRead reads the available bytes, at least one.
func rawRead(fd int, b []byte) (int, error) {
	for {
		n, _, errno := syscall.RawSyscall(syscall.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(&b[0])),
			uintptr(len(b)))
		switch {
		case errno == syscall.EINTR:
		case errno != 0:
			return 0, os.NewSyscallError("read", errno)
		case n == 0:
			return 0, errors.New("the server closed a connection")
		default:
			return int(n), nil
		}
	}
}

// rawWrite writes all of b. Callers never write more than a socket's buffer takes.
func rawWrite(fd int, b []byte) error {
	n, _, errno := syscall.RawSyscall(syscall.SYS_WRITE, uintptr(fd), uintptr(unsafe.Pointer(&b[0])),
		uintptr(len(b)))
	if errno != 0 {
		return os.NewSyscallError("write", errno)
	}
	if int(n) != len(b) {
		return fmt.Errorf("a socket took %d of %d bytes", n, len(b))
	}
	return nil
}

// poller reports which of many sockets can be read. The caller gives each socket a
// number.
type poller struct {
	fd     int
	events [256]syscall.EpollEvent
}

func newPoller() (*poller, error) {
	fd, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	return &poller{fd: fd}, os.NewSyscallError("epoll_create1", err)
}

// dial connects a socket and watches it.
func (p *poller) dial(addr string, number int) (int, error) {
	fd, err := rawDial(addr)
	if err != nil {
		return 0, err
	}
	return fd, p.watch(fd, number)
}

func (p *poller) watch(fd, number int) error {
	event := syscall.EpollEvent{Events: syscall.EPOLLIN, Fd: int32(number)}
	return os.NewSyscallError("epoll_ctl", syscall.EpollCtl(p.fd, syscall.EPOLL_CTL_ADD, fd, &event))
}

// wait returns events. The Fd of an event is the number of a socket that can be read. The
// events are valid until the next call.
func (p *poller) wait() ([]syscall.EpollEvent, error) {
	for {
		n, _, errno := syscall.RawSyscall6(syscall.SYS_EPOLL_WAIT, uintptr(p.fd),
			uintptr(unsafe.Pointer(&p.events[0])), uintptr(len(p.events)), silence, 0, 0)
		switch {
		case errno == syscall.EINTR:
		case errno != 0:
			return nil, os.NewSyscallError("epoll_wait", errno)
		case n == 0:
			return nil, errors.New("the server was silent for 20 s")
		default:
			return p.events[:n], nil
		}
	}
}

const silence = 20_000 // ms

// percentile returns the value below which the part p of the values lies, in µs. It sorts
// the values.
func percentile(values []time.Duration, p float64) float64 {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	return float64(values[int(p*float64(len(values)-1))]) / float64(time.Microsecond)
}
