package engine

import (
	"net"
	"strconv"
)

// Standing returns a server's place among primaries and replicas: the address of the server that it
// follows, "" if it is a primary; whether the link to that works; the offset of the changes that it has;
// and whether a test has stopped the server.
func (k Kit) Standing() (primary string, up bool, offset int64, down bool) {
	k.e.Outside(func() {
		primary, up, offset = k.e.replicas.Standing()
		down = k.e.Down()
	})
	return primary, up, offset, down
}

// SetLag holds back the last writes for the replica that announces an address, "host:port". 0 ends that.
func (k Kit) SetLag(replica string, writes int) {
	host, port := splitAddr(replica)
	k.e.Outside(func() { k.e.replicas.SetLag(host, port, writes) })
}

// Let returns the offset up to which the stream goes to the replica that announces an address. ok is
// false if no such replica is online.
func (k Kit) Let(replica string) (offset int64, ok bool) {
	host, port := splitAddr(replica)
	k.e.Outside(func() { offset, ok = k.e.replicas.Let(host, port) })
	return offset, ok
}

// Relink connects to the server's primary now, if there is no link to it.
func (k Kit) Relink() { k.e.Outside(k.e.replicas.Relink) }

func splitAddr(addr string) (host string, port int) {
	host, digits, _ := net.SplitHostPort(addr)
	port, _ = strconv.Atoi(digits)
	return host, port
}
