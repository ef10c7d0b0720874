package redistest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

// FreePort chooses ports below the range that systems give to outgoing connections.
// Otherwise an outgoing connection could take the port before the server binds it.
const (
	firstPort = 11000
	lastPort  = 31999
)

// FreePort returns a TCP port of the loopback that is free now.
func FreePort() (string, error) {
	for range 1000 {
		port := strconv.Itoa(firstPort + rand.IntN(lastPort-firstPort+1))
		ln, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", port))
		if err == nil {
			return port, ln.Close()
		}
	}
	return "", fmt.Errorf("no free port between %d and %d", firstPort, lastPort)
}
