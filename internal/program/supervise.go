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
	socket  string // NOTIFY_SOCKET
	log     *slog.Logger
}

// supervise follows the directive supervised. As in Redis, auto looks for the environment
// variables of both supervisors, and a supervisor that is not there is a warning. For upstart
// the process stops itself until upstart lets it go on.
func supervise(set *config.Config, log *slog.Logger) *supervisor {
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
	s := &supervisor{systemd: mode == "systemd", socket: socket, log: log}
	switch {
	case mode == "upstart" && !upstart:
		log.Warn("upstart supervision requested, but UPSTART_JOB not found!")
	case mode == "upstart":
		log.Info("supervised by upstart, will stop to signal readiness.")
		stopSelf()
	case s.systemd:
		log.Info("supervised by systemd. Please make sure you set appropriate values for TimeoutStartSec " +
			"and TimeoutStopSec in your service unit.")
		s.tell("STATUS=Redis is loading...\n")
	}
	return s
}

func (s *supervisor) ready() { s.tell("STATUS=Ready to accept connections\n", "READY=1\n") }

func (s *supervisor) stopping() { s.tell("STOPPING=1\n") }

// tell sends messages, each in a datagram. The socket is a path, or with a leading @ an abstract
// name.
func (s *supervisor) tell(messages ...string) {
	if s == nil || !s.systemd {
		return
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
}
