package sentinel

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/lockredis/lockredis/internal/config"
)

// warn publishes an event and logs it as a warning. name is the event, which is also the
// channel: "+sdown". The text is formatted as fmt.Sprintf does; an instance prints as Redis
// names it.
func (s *Sentinel) warn(name, format string, args ...any) {
	s.event(config.LogWarning, name, fmt.Sprintf(format, args...))
}

// notice is warn with another level of the log.
func (s *Sentinel) notice(name, format string, args ...any) {
	s.event(config.LogNotice, name, fmt.Sprintf(format, args...))
}

// event publishes an event and logs it. The log's line is redis-sentinel's, because people
// and tools read it.
func (s *Sentinel) event(level slog.Level, name, text string) {
	s.opts.Log.Log(context.Background(), level, oneLine.Replace(name+" "+text))
	if s.engine != nil {
		s.engine.Env().PubSub.Publish([]byte(name), []byte(text), false)
	}
}

// oneLine keeps a name that another node has sent from making log lines of its own.
var oneLine = strings.NewReplacer("\n", `\n`, "\r", `\r`)

// shown returns the host of an address as clients and other Sentinels learn it.
func (s *Sentinel) shown(a address) string {
	if s.global.announceHostnames {
		return a.host
	}
	return a.ip
}
