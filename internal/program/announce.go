package program

import (
	"cmp"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/lockredis/lockredis/internal/config"
)

// logStart logs the versions and the process id, then one line for each address
// that the server listens on, or the Sentinels alone. The last line is the one that
// launchers of redis-server wait for.
func logStart(log *slog.Logger, n *nodes) {
	log.Info("lockredis has started",
		"version", config.Version, "redis_version", config.RedisVersion, "pid", os.Getpid())
	_, tlsPort := n.ports()
	for _, addr := range n.addrs() {
		log.Info("Listening", "address", addr, "protocol", protocol(addr, tlsPort))
	}
	log.Info("Ready to accept connections")
}

// protocol returns "tcp", "tls" or "unix". tlsPort is "" when the server has no
// port for TLS.
func protocol(addr, tlsPort string) string {
	_, port, err := net.SplitHostPort(addr)
	switch {
	case err != nil || strings.ContainsAny(addr, `/\`): // the path of a socket
		return "unix"
	case port == tlsPort:
		return "tls"
	}
	return "tcp"
}

// files are the paths of the files that the program has written and removes at its end.
type files []string

func (f files) remove() {
	for _, path := range f {
		os.Remove(path)
	}
}

// writePID writes the pidfile. As in Redis, the server runs on without it.
func (f *files) writePID(set *config.Config, log *slog.Logger) {
	path := set.Path(set.PIDFile)
	if path == "" {
		return
	}
	if err := os.WriteFile(path, fmt.Appendln(nil, os.Getpid()), 0o644); err != nil {
		log.Warn("Failed to write PID file: " + reasonOf(err))
		return
	}
	*f = append(*f, path)
}

// announce writes the port-file, and prints the ports that were chosen by "auto". With a topology
// it prints all addresses, and the port-file has the same lines. What opens the doors is only printed,
// last, a line for each server in order: whoever reads these lines knows the ports.
func (f *files) announce(set *config.Config, n *nodes, stdout io.Writer) error {
	addresses := strings.Join(n.lines(), "\n")
	port, tlsPort := n.ports()
	if path := set.Path(set.PortFile); path != "" {
		if err := writeAtomically(path, cmp.Or(addresses, port)); err != nil {
			return err
		}
		*f = append(*f, path)
	}
	if addresses != "" {
		fmt.Fprintln(stdout, addresses)
	}
	if set.PortAuto && n.first != nil {
		fmt.Fprintf(stdout, "port=%s\n", port)
	}
	if set.TLS.PortAuto && n.first != nil {
		fmt.Fprintf(stdout, "tls-port=%s\n", tlsPort)
	}
	for _, door := range n.doors {
		fmt.Fprintf(stdout, "control=%s %s\n", door.Addr(), door.Secret())
	}
	return nil
}

// writeAtomically writes line and a line feed to path. A reader of path never
// sees a part of the line.
func writeAtomically(path, line string) error {
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = temp.WriteString(line + "\n")
	if closeErr := temp.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Chmod(temp.Name(), 0o644)
	}
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		os.Remove(temp.Name())
	}
	return err
}
