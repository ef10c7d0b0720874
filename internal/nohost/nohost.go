// Package nohost has a host for engines that run without a server: in tests and benches.
package nohost

import (
	"context"
	"net"
	"time"

	"github.com/lockredis/lockredis/internal/command"
)

// Host is a [command.Server] without a process, sockets or a network. Its facts are zero, and
// nothing that it is asked for happens. A test embeds it and overrides what it needs.
type Host struct{}

func (Host) Identity() command.Identity      { return command.Identity{} }
func (Host) Usage() command.Usage            { return command.Usage{} }
func (Host) Shutdown()                       {}
func (Host) Heap() int64                     { return 0 }
func (Host) Buffers() int64                  { return 0 }
func (Host) Purge()                          {}
func (Host) Traffic() (none command.Traffic) { return none }
func (Host) Sleep(int64)                     {}
func (Host) EndSleep()                       {}
func (Host) Settle()                         {}
func (Host) Log(level, msg string)           {}
func (Host) Dialer() (dial func(context.Context, string) (net.Conn, error), err error) {
	return nil, net.ErrClosed
}
func (Host) After(time.Duration, func()) {}
func (Host) Send(*command.Migration, <-chan struct{}) (command.Exchange, []string) {
	return command.NotDialed, nil
}
