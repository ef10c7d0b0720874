package redistest

import "syscall"

// reserve binds a socket to a free port of the loopback and never listens. The first bind is
// exclusive, so it fails on a port that any socket has, also one of another reserve. Only
// then SO_REUSEADDR is set: a server with the same option, which every server sets, may bind
// and listen beside a socket that does not listen. The socket stays open until release, or
// until the process ends.
func reserve(port int) (release func(), ok bool) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, false
	}
	release = func() { syscall.Close(fd) }
	addr := &syscall.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}
	if syscall.Bind(fd, addr) != nil ||
		syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1) != nil {
		release()
		return nil, false
	}
	return release, true
}
