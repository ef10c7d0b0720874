package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"

	"github.com/lockredis/lockredis"
	"github.com/lockredis/lockredis/internal/config"
)

const usage = `Usage: lockredis [/path/to/redis.conf] [-] [--directive value ...]

Directives are those of redis.conf 7.0. What lockredis cannot do it refuses.
A "-" as the first or the last argument reads more of them from standard input.

  lockredis                                 listen on 127.0.0.1:6379 and [::1]:6379
  lockredis --port 7777 --requirepass secret
  lockredis /etc/redis.conf --loglevel verbose
  echo 'maxclients 100' | lockredis -

Directives of its own:
  --port auto               take a free port and print it: port=NNNN
  --tls-port auto           the same for TLS: tls-port=NNNN
  --port-file PATH          write the port to PATH, in one step; removed at the end
  --exit-with-parent yes    end when the process that started lockredis ends

  -v, --version             print the version
  -h, --help                print this text
`

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// run is the whole program but for the exit. It returns the exit status.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(args) > 0 && (args[0] == "-v" || args[0] == "--version") {
		fmt.Fprintf(stdout, "lockredis server v=%s lockredis=%s bits=%d %s\n",
			config.RedisVersion, config.Version, strconv.IntSize, runtime.Version())
		return 0
	}
	if len(args) > 0 && (args[0] == "-h" || args[0] == "--help") {
		io.WriteString(stdout, usage)
		return 0
	}
	if err := serve(args, stdin, stdout); err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	return 0
}

// serve runs a server until it is told to end.
func serve(args []string, stdin io.Reader, stdout io.Writer) error {
	ignoreSignals()
	set, err := config.Parse(args, stdin)
	if err != nil {
		return err
	}
	log, err := openLog(set, stdout)
	if err != nil {
		return err
	}
	ends := make(chan os.Signal, 1)
	signal.Notify(ends, syscall.SIGTERM, syscall.SIGINT)
	orphaned, err := watchParent(set)
	if err != nil {
		return fmt.Errorf("lockredis: exit-with-parent: %w", err)
	}
	if err := fitClients(set, log); err != nil {
		return report(log, set, err)
	}
	srv := lockredis.New(lockredis.Config{Settings: set, Logger: log})
	if err := srv.Start(); err != nil {
		return report(log, set, err)
	}
	defer srv.Close()
	remove, err := announce(set, srv, log, stdout)
	defer remove()
	if err != nil {
		return report(log, set, err)
	}
	log.Info("Ready to accept connections")
	stop := make(chan struct{})
	defer close(stop)
	go giveBack(stop)
	select {
	case sig := <-ends:
		log.Warn("Received " + sig.String() + ", ending")
	case <-orphaned:
		log.Warn("The parent process has ended, ending")
	case <-srv.Done():
	}
	log.Warn("lockredis is now ready to exit, bye bye...")
	return nil
}

// report also writes the error to the log when that is a file: whoever looks
// there must find it.
func report(log *slog.Logger, set *config.Config, err error) error {
	if set.LogFile != "" {
		log.Warn("Cannot start: " + err.Error())
	}
	var fatal *config.FatalError
	if errors.As(err, &fatal) {
		return fatal // it speaks for itself, as redis-server's does
	}
	return fmt.Errorf("lockredis: cannot start: %w", err)
}

func watchParent(set *config.Config) (<-chan struct{}, error) {
	if !set.ExitWithParent {
		return nil, nil
	}
	return parentEnd()
}

// announce tells the port, and the process id, to those who asked for it.
// remove takes the files away again.
func announce(set *config.Config, srv *lockredis.Server, log *slog.Logger, stdout io.Writer) (remove func(), err error) {
	var written []string
	remove = func() {
		for _, path := range written {
			os.Remove(path)
		}
	}
	_, port, _ := net.SplitHostPort(srv.Addr())
	if path := set.Path(set.PortFile); path != "" {
		if err := writeAtomically(path, port); err != nil {
			return remove, err
		}
		written = append(written, path)
	}
	if path := set.Path(set.PIDFile); path != "" {
		// A server without this file is of more use than none, as in Redis.
		if err := os.WriteFile(path, fmt.Appendln(nil, os.Getpid()), 0o644); err != nil {
			log.Warn("Failed to write PID file: " + reasonOf(err))
		} else {
			written = append(written, path)
		}
	}
	if set.PortAuto {
		fmt.Fprintf(stdout, "port=%s\n", port)
	}
	if set.TLS.PortAuto {
		_, port, _ := net.SplitHostPort(srv.TLSAddr())
		fmt.Fprintf(stdout, "tls-port=%s\n", port)
	}
	return remove, nil
}

// writeAtomically writes a line into a file that nobody ever sees half written.
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
