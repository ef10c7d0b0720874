package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"sync"

	"github.com/lockredis/lockredis/internal/config"
)

// openLog returns the log of the directives logfile and loglevel. Without a
// logfile it writes to stdout. CONFIG SET loglevel changes its level.
func openLog(set *config.Config, stdout io.Writer) (*slog.Logger, error) {
	out := stdout
	if set.LogFile != "" {
		path := set.Path(set.LogFile)
		file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			return nil, &config.FatalError{Reason: "Can't open the log file: " + reasonOf(err)}
		}
		file.Close()
		out = logFile(path)
	}
	h := &handler{out: out, role: 'M', level: new(slog.LevelVar), mu: new(sync.Mutex)}
	if set.Sentinel {
		h.role = 'X'
	}
	h.level.Set(set.LogLevel)
	set.OnChange(config.LogLevelChange, func() error {
		h.level.Set(set.LogLevel)
		return nil
	})
	return slog.New(h), nil
}

// logFile is the path of the logfile. As in Redis it is opened for each line: after logrotate
// has renamed the file, the next line goes to a new one.
type logFile string

func (f logFile) Write(line []byte) (int, error) {
	file, err := os.OpenFile(string(f), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	return file.Write(line)
}

// reasonOf returns the system's error for a file as C's strerror spells it:
// without the path, with a capital letter.
func reasonOf(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	text := err.Error()
	return strings.ToUpper(text[:1]) + text[1:]
}

// handler writes log lines in Redis's form: process id, role, time, level, text.
// Attributes follow as key=value.
type handler struct {
	role  byte // M: a server, X: a Sentinel
	level *slog.LevelVar
	attrs string // the formatted attributes of WithAttrs

	mu  *sync.Mutex // guards out
	out io.Writer
}

// Enabled reports whether the handler writes lines of level l.
func (h *handler) Enabled(_ context.Context, l slog.Level) bool { return l >= h.level.Level() }

// Handle writes one line. It ignores a failed write, because the server runs on
// when its launcher has closed the standard output.
func (h *handler) Handle(_ context.Context, r slog.Record) error {
	sign := byte('#')
	switch {
	case r.Level < config.LogVerbose:
		sign = '.'
	case r.Level < config.LogNotice:
		sign = '-'
	case r.Level < config.LogWarning:
		sign = '*'
	}
	var line strings.Builder
	fmt.Fprintf(&line, "%d:%c %s %c %s%s",
		os.Getpid(), h.role, r.Time.Format("02 Jan 2006 15:04:05.000"), sign, r.Message, h.attrs)
	r.Attrs(func(a slog.Attr) bool {
		line.WriteString(formatAttr(a))
		return true
	})
	line.WriteByte('\n')
	h.mu.Lock()
	defer h.mu.Unlock()
	_, _ = io.WriteString(h.out, line.String())
	return nil
}

// formatAttr returns " key=value". It quotes a value that has spaces.
func formatAttr(a slog.Attr) string {
	value := a.Value.String()
	if strings.ContainsAny(value, " \"\n") {
		value = fmt.Sprintf("%q", value)
	}
	return " " + a.Key + "=" + value
}

// WithAttrs returns a handler that adds attrs to each line.
func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	with := *h
	for _, a := range attrs {
		with.attrs += formatAttr(a)
	}
	return &with
}

// WithGroup returns h itself: Redis's form has no groups.
func (h *handler) WithGroup(string) slog.Handler { return h }
