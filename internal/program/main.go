package program

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"

	"github.com/lockredis/lockredis"
	"github.com/lockredis/lockredis/internal/backdoor"
	"github.com/lockredis/lockredis/internal/config"
	"github.com/lockredis/lockredis/resp"
)

const usage = `Usage: lockredis [/path/to/redis.conf] [-] [--directive value ...]

Takes the directives of redis.conf 7.0 and refuses those that it cannot follow.
A "-" as the first or the last argument reads more directives from standard input.

  lockredis                                 listen on 127.0.0.1:6379 and [::1]:6379
  lockredis --port 7777 --requirepass secret
  lockredis /etc/redis.conf --loglevel verbose
  echo 'maxclients 100' | lockredis -
  lockredis --sentinel /etc/sentinel.conf   a Sentinel; also under the name redis-sentinel

Directives of its own:
  --port auto               listen on a free port and print it: port=NNNN
  --tls-port auto           the same for TLS: tls-port=NNNN
  --port-file PATH          write the port to PATH atomically; remove PATH at the end
  --topology sentinel:1x3   three Sentinels in the same process; print an address a line:
                            primary=HOST:PORT, sentinel=HOST:PORT … See docs/sentinel.md
  --topology "sentinel:1x3 primary HOST:PORT"
                            the Sentinels alone, for a server elsewhere
  --topology replicas:2     a primary and two replicas in the process, on this port and the next ones;
                            print primary=HOST:PORT, replica=HOST:PORT … See docs/topologies.md
  --topology sentinel:1+2+3 the same with three Sentinels
  --topology cluster:3      a cluster of three primaries in the process, on this port and the next
                            ones; print node=HOST:PORT …
  --topology cluster:3x1    the same with a replica of each primary
  --topology primaries:3    three independent servers; print primary=HOST:PORT …
  --topology proxy:3        one server that refuses keys of several slots, as a proxy before a
                            cluster does; print node=HOST:PORT
  --control yes             for a test kit that starts the program: another port, which nothing
                            that a test does closes; print control=HOST:PORT SECRET for each server
  --exit-with-parent yes    end when the process that started lockredis ends
  --exit-with-parent PID    end when that process ends, too, or has ended already

  lockredis exec -- mvn test    run a command on a server of its own: lockredis exec --help

The environment variable LOCKREDIS_DEFAULTS may have options, "--bind 10.0.0.1 --port 7777".
Arguments and configuration files override them.

  -v, --version             print the version
  -h, --help                print this text
`

// server is the program lockredis. It returns the exit status.
func server(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if asksVersion(args) {
		printVersion(stdout)
		return 0
	}
	if asksHelp(args) {
		io.WriteString(stdout, usage)
		return 0
	}
	d := asDaemon()
	if d != nil {
		stdin, stdout = d.input, &d.announced
	}
	err := serve(args, stdin, stdout, d)
	var signal signalError
	if errors.As(err, &signal) {
		return 128 + int(signal)
	}
	if err != nil {
		d.failed(err)
		fmt.Fprintln(stderr, err)
		return 1
	}
	return 0
}

func asksVersion(args []string) bool {
	return len(args) > 0 && (args[0] == "-v" || args[0] == "--version")
}

func asksHelp(args []string) bool {
	return len(args) > 0 && (args[0] == "-h" || args[0] == "--help")
}

// serve runs a server until a signal, a SHUTDOWN or the end of the parent
// process ends it. With daemonize yes it starts the daemon, and returns when that listens.
// d is nil outside of the daemon.
func serve(args []string, stdin io.Reader, stdout io.Writer, d *daemon) error {
	ignoreSignals()
	var given bytes.Buffer // what parse reads of stdin
	settings, err := parse(nil, args, io.TeeReader(stdin, &given))
	if err != nil {
		return err
	}
	set := backdoor.Config(settings)
	// A launcher that ends its server belongs to a test: the server leaves a dump.rdb that
	// happens to lie in the working directory alone.
	set.RDB.Program = !set.ExitWithParent
	log, err := openLog(set, d.logOr(stdout))
	if err != nil {
		return err
	}
	told := newSupervisor(set, log)
	switch {
	case d != nil:
		if err := d.adopt(set); err != nil {
			return err
		}
	case !told.begin() && set.Daemonize:
		return launchDaemon(set, given.Bytes(), stdout)
	}
	end := &ending{set: set, log: log, exit: os.Exit}
	ctx, err := end.await()
	if err != nil {
		return err
	}
	end.stopping.Store(told)
	run, err := start(ctx, starting{settings: settings, set: set, log: log,
		again: func() (*lockredis.Settings, error) { return parse(nil, args, bytes.NewReader(given.Bytes())) }})
	switch {
	case err != nil && (ctx.Err() != nil || errors.Is(err, lockredis.ErrServerClosed)):
		told.stopping()
		log.Warn(goodbye)
		return end.bySignal() // it was told to end while it started
	case err != nil:
		return report(log, set, err)
	}
	defer run.end()
	save := func() error { return nil }
	if !set.Sentinel {
		save = run.save
	}
	end.save.Store(&save)
	if err := run.announce(set, run.nodes, stdout); err != nil {
		return report(log, set, err)
	}
	logStart(log, run.nodes)
	told.ready()
	d.ready()
	select {
	case <-ctx.Done():
	case <-run.done():
		told.stopping() // for SHUTDOWN; a signal has told it before the save
	}
	if end.forced.Load() {
		return errForced
	}
	log.Warn(goodbye)
	return end.bySignal()
}

const goodbye = "lockredis is now ready to exit, bye bye..."

// parse reads the arguments, and the options that the environment has under them. Below both are
// the options of under.
func parse(under, args []string, stdin io.Reader) (*lockredis.Settings, error) {
	words, ok := resp.SplitLine([]byte(os.Getenv("LOCKREDIS_DEFAULTS")))
	if !ok {
		return nil, errors.New("lockredis: LOCKREDIS_DEFAULTS has unbalanced quotes")
	}
	defaults := slices.Clone(under)
	for _, word := range words {
		defaults = append(defaults, string(word))
	}
	settings, err := backdoor.Parse(config.Program{Defaults: defaults, Detaches: detaches}, args, stdin)
	if err != nil {
		return nil, err
	}
	return settings.(*lockredis.Settings), nil
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
