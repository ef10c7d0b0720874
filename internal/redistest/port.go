package redistest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

// FreePort chooses ports below the range that systems give to outgoing connections.
const (
	firstPort = 11000
	lastPort  = 31999
)

// FreePort returns a TCP port of the loopback that is free now. On Linux it also keeps the
// port until this process ends: only a server that asks for this very port gets it. No
// outgoing connection takes it, and no FreePort of another process. So a server may be
// started, stopped and started again there.
func FreePort() (string, error) {
	for range 1000 {
		port := firstPort + rand.IntN(lastPort-firstPort+1)
		release, ok := reserve(port)
		switch {
		case !ok:
			continue
		case available(port):
			return strconv.Itoa(port), nil
		}
		release() // this system lets no server bind beside the reservation
		if available(port) {
			return strconv.Itoa(port), nil
		}
	}
	return "", fmt.Errorf("no free port between %d and %d", firstPort, lastPort)
}

// available reports whether a server can listen on the port.
func available(port int) bool {
	ln, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	return err == nil && ln.Close() == nil
}
