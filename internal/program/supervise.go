package program

import (
	"errors"
	"log/slog"
	"net"
	"os"

	"github.com/lockredis/lockredis/internal/config"
)

// supervisor tells systemd how the program is doing. Without a supervisor it does nothing.
type supervisor struct {
	systemd bool
	upstart bool
	socket  string // NOTIFY_SOCKET
	log     *slog.Logger
}

// newSupervisor returns the supervisor of the directive supervised. As in Redis, auto looks for
// the environment variables of both supervisors.
func newSupervisor(set *config.Config, log *slog.Logger) *supervisor {
	mode := set.Supervised
	socket, upstart := os.Getenv("NOTIFY_SOCKET"), os.Getenv("UPSTART_JOB") != ""
	if mode == "auto" {
		switch {
		case upstart:
			mode = "upstart"
		case socket != "":
			mode = "systemd"
		}
	}
	return &supervisor{systemd: mode == "systemd", upstart: mode == "upstart", socket: socket, log: log}
}

// begin tells the supervisor that the program starts. It returns true if that has worked: the
// program then does not detach itself. As in Redis, a supervisor that is not there is a warning.
// For upstart the process stops itself until upstart lets it go on.
func (s *supervisor) begin() bool {
	switch {
	case s.upstart && os.Getenv("UPSTART_JOB") == "":
		s.log.Warn("upstart supervision requested, but UPSTART_JOB not found!")
	case s.upstart:
		s.log.Info("supervised by upstart, will stop to signal readiness.")
		stopSelf()
		return true
	case s.systemd:
		s.log.Info("supervised by systemd. Please make sure you set appropriate values for TimeoutStartSec " +
			"and TimeoutStopSec in your service unit.")
		return s.tell("STATUS=Redis is loading...\n")
	}
	return false
}

func (s *supervisor) ready() { s.tell("STATUS=Ready to accept connections\n", "READY=1\n") }

func (s *supervisor) stopping() { s.tell("STOPPING=1\n") }

// tell sends messages, each in a datagram. It returns false if systemd does not supervise or
// cannot be reached. The socket is a path, or with a leading @ an abstract name.
func (s *supervisor) tell(messages ...string) bool {
	if s == nil || !s.systemd {
		return false
	}
	err := errors.New("NOTIFY_SOCKET not found!") //lint:ignore ST1005 Redis's text
	if s.socket != "" {
		var conn *net.UnixConn
		conn, err = net.DialUnix("unixgram", nil, &net.UnixAddr{Name: s.socket, Net: "unixgram"})
		if err == nil {
			defer conn.Close()
			for _, message := range messages {
				_, writeErr := conn.Write([]byte(message))
				err = errors.Join(err, writeErr)
			}
		}
	}
	if err != nil {
		s.log.Warn("systemd supervision error: " + err.Error())
	}
	return err == nil
}
