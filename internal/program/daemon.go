package program

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strconv"

	"github.com/lockredis/lockredis/internal/config"
)

// daemonVariable tells a process that it is a daemon. Its value is the checksum of the
// configuration. Go cannot fork: the program starts itself again, with the same arguments.
const daemonVariable = "LOCKREDIS_DAEMON"

// The descriptors that a daemon inherits.
const (
	daemonStatus = 3 // how the start went, see daemon.report
	daemonInput  = 4 // what the launcher has read of its standard input
)

// The first byte of a report.
const (
	daemonListens = '+' // the lines for the launcher's standard output follow
	daemonFailed  = '-' // the error follows
)

// defaultPIDFile is where a daemon writes its process id without the directive pidfile.
const defaultPIDFile = "/var/run/redis.pid"

// daemon is the connection of a daemon to the process that has started it, its launcher. The
// launcher waits for the report. A nil daemon is a process in the foreground: its methods do
// nothing.
type daemon struct {
	sum       string         // checksum of the configuration that the launcher has read
	status    io.WriteCloser // closed after the report
	input     io.ReadCloser
	announced bytes.Buffer // what announce prints
}

// asDaemon returns the daemon that this process is, nil if it runs in the foreground.
func asDaemon() *daemon {
	sum := os.Getenv(daemonVariable)
	if sum == "" {
		return nil
	}
	os.Unsetenv(daemonVariable)
	return &daemon{sum: sum,
		status: os.NewFile(daemonStatus, "status"), input: os.NewFile(daemonInput, "input")}
}

// logOr returns where the log goes without a logfile: stdout, or what a daemon has in its place.
func (d *daemon) logOr(stdout io.Writer) io.Writer {
	if d == nil {
		return stdout
	}
	return os.Stdout
}

// adopt closes the input, and completes the configuration as Redis does in the background. It
// fails if the launcher has read another configuration.
func (d *daemon) adopt(set *config.Config) error {
	d.input.Close()
	if d.sum != sumOf(set) {
		return errReadOnce
	}
	keepCrash(set)
	if set.PIDFile != "" {
		return nil
	}
	return set.Load("pidfile", defaultPIDFile)
}

// keepCrash has Go report a crash in the logfile, because the standard error is /dev/null.
func keepCrash(set *config.Config) {
	if set.LogFile == "" {
		return
	}
	file, err := os.OpenFile(set.Path(set.LogFile), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return // openLog has opened it: it was removed meanwhile
	}
	defer file.Close()
	_ = debug.SetCrashOutput(file, debug.CrashOptions{}) // it duplicates the descriptor
}

var errReadOnce = errors.New("lockredis: daemonize: the configuration is read twice, and has changed " +
	"meanwhile: give a file that can be read again, or - and standard input")

// sumOf returns the value of daemonVariable.
func sumOf(set *config.Config) string { return strconv.FormatUint(uint64(set.Sum), 16) }

// ready reports that the daemon listens.
func (d *daemon) ready() {
	if d != nil {
		d.report(daemonListens, d.announced.String())
	}
}

// failed reports an error. After ready the launcher has gone, and failed does nothing.
func (d *daemon) failed(err error) {
	if d != nil {
		d.report(daemonFailed, err.Error())
	}
}

// report sends the first report and ignores others. A launcher that has been killed does not
// read it: the daemon runs on.
func (d *daemon) report(kind byte, text string) {
	_, _ = d.status.Write(append([]byte{kind}, text...))
	d.status.Close()
}

// launchDaemon starts a daemon and waits until it listens or has failed. input is what the
// configuration has on standard input.
func launchDaemon(set *config.Config, input []byte, stdout io.Writer) error {
	status, wait, err := startDaemon(sumOf(set), input)
	if err != nil {
		return fmt.Errorf("lockredis: daemonize: %w", err)
	}
	defer status.Close()
	report, _ := io.ReadAll(status)
	if len(report) > 0 && report[0] == daemonListens {
		_, _ = stdout.Write(report[1:]) // a launcher may have closed it
		return nil
	}
	err = wait()
	switch {
	case len(report) > 0:
		return errors.New(string(report[1:]))
	case err != nil:
		return fmt.Errorf("lockredis: cannot start: the daemon has ended: %w", err)
	}
	return errors.New("lockredis: cannot start: the daemon was told to end")
}
