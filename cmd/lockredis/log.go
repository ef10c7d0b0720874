package main

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

// openLog returns the log that the settings ask for. CONFIG SET loglevel
// changes it.
func openLog(set *config.Config, stdout io.Writer) (*slog.Logger, error) {
	out := stdout
	if set.LogFile != "" {
		file, err := os.OpenFile(set.Path(set.LogFile), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			return nil, &config.FatalError{Reason: "Can't open the log file: " + reasonOf(err)}
		}
		out = file
	}
	h := &handler{out: out, level: new(slog.LevelVar), mu: new(sync.Mutex)}
	h.level.Set(set.LogLevel)
	set.OnChange("loglevel", func() error {
		h.level.Set(set.LogLevel)
		return nil
	})
	return slog.New(h), nil
}

// reasonOf returns what the system says to a file, spelled as C's strerror does:
// without the path, in a capital letter.
func reasonOf(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	text := err.Error()
	return strings.ToUpper(text[:1]) + text[1:]
}

// handler writes lines in Redis's form: process, role, time, level, text.
type handler struct {
	level *slog.LevelVar
	attrs string // of WithAttrs, in the form that a line ends with

	mu  *sync.Mutex // guards out
	out io.Writer
}

// Enabled reports whether lines of the level are written.
func (h *handler) Enabled(_ context.Context, l slog.Level) bool { return l >= h.level.Level() }

// Handle writes one line. Where nobody reads any more it is lost: the server
// outlives the launcher that started it.
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
	fmt.Fprintf(&line, "%d:M %s %c %s%s", os.Getpid(), r.Time.Format("02 Jan 2006 15:04:05.000"), sign, r.Message, h.attrs)
	r.Attrs(func(a slog.Attr) bool {
		line.WriteString(form(a))
		return true
	})
	line.WriteByte('\n')
	h.mu.Lock()
	defer h.mu.Unlock()
	_, _ = io.WriteString(h.out, line.String())
	return nil
}

func form(a slog.Attr) string {
	value := a.Value.String()
	if strings.ContainsAny(value, " \"\n") {
		value = fmt.Sprintf("%q", value)
	}
	return " " + a.Key + "=" + value
}

// WithAttrs returns a handler whose lines end with the attributes too.
func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	with := *h
	for _, a := range attrs {
		with.attrs += form(a)
	}
	return &with
}

// WithGroup returns the same handler: Redis's form has no groups.
func (h *handler) WithGroup(string) slog.Handler { return h }
