package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"

	"github.com/lockredis/lockredis"
	"github.com/lockredis/lockredis/internal/backdoor"
	"github.com/lockredis/lockredis/internal/config"
)

const usage = `Usage: lockredis [/path/to/redis.conf] [-] [--directive value ...]

Takes the directives of redis.conf 7.0 and refuses those that it cannot follow.
A "-" as the first or the last argument reads more directives from standard input.

  lockredis                                 listen on 127.0.0.1:6379 and [::1]:6379
  lockredis --port 7777 --requirepass secret
  lockredis /etc/redis.conf --loglevel verbose
  echo 'maxclients 100' | lockredis -

Directives of its own:
  --port auto               listen on a free port and print it: port=NNNN
  --tls-port auto           the same for TLS: tls-port=NNNN
  --port-file PATH          write the port to PATH atomically; remove PATH at the end
  --exit-with-parent yes    end when the process that started lockredis ends

  -v, --version             print the version
  -h, --help                print this text
`

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// run is the program. It returns the exit status.
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

// serve runs a server until a signal, a SHUTDOWN or the end of the parent
// process ends it.
func serve(args []string, stdin io.Reader, stdout io.Writer) error {
	ignoreSignals()
	settings, err := lockredis.ParseSettings(args, stdin)
	if err != nil {
		return err
	}
	set := backdoor.Config(settings)
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
	srv := lockredis.New(lockredis.Config{Settings: settings, Logger: log})
	if err := srv.Start(); err != nil {
		return report(log, set, err)
	}
	defer srv.Close()
	remove, err := announce(set, srv, log, stdout)
	defer remove()
	if err != nil {
		return report(log, set, err)
	}
	logStart(log, srv)
	stop := make(chan struct{})
	defer close(stop)
	go giveBack(stop)
	select {
	case sig := <-ends:
		log.Warn("Received a signal, shutting down", "signal", sig)
	case <-orphaned:
		log.Warn("The parent process has ended, shutting down")
	case <-srv.Done():
	}
	log.Warn("lockredis is now ready to exit, bye bye...")
	return nil
}

// report returns err as the text for standard error. With a logfile it also
// writes the error there, because a user may look only in that file.
func report(log *slog.Logger, set *config.Config, err error) error {
	if set.LogFile != "" {
		log.Warn("Cannot start: " + err.Error())
	}
	var fatal *config.FatalError
	if errors.As(err, &fatal) {
		return fatal // printed without a prefix, as redis-server prints it
	}
	return fmt.Errorf("lockredis: cannot start: %w", err)
}

// watchParent returns a channel that is closed when the parent process ends. It
// returns nil without the directive exit-with-parent.
func watchParent(set *config.Config) (<-chan struct{}, error) {
	if !set.ExitWithParent {
		return nil, nil
	}
	return parentEnd()
}
