package lockredis

import (
	"errors"
	"io"
	"sync/atomic"

	"github.com/lockredis/lockredis/internal/config"
)

// Settings are the directives of a redis.conf and a command line. ParseSettings makes them.
// The zero value has the defaults of cmd/lockredis.
type Settings struct {
	config *config.Config
	taken  atomic.Bool // by New
}

// ParseSettings reads the arguments that redis-server takes, without the program's name: the
// path of a redis.conf, "-" to read more of it from stdin, and directives as in "--port",
// "6380". All are optional. Directives that lockredis adds are accepted too.
//
// stdin may be nil if args has no "-". The error has the text that redis-server prints,
// which can be several lines. Start reports what can only be checked then, such as a
// certificate that cannot be read.
func ParseSettings(args []string, stdin io.Reader) (*Settings, error) {
	parsed, err := config.Parse(args, stdin)
	if err != nil {
		return nil, err
	}
	return &Settings{config: parsed}, nil
}

// take returns the directives for a new server. A second server gets defaults and an error,
// because CONFIG SET on one server would change the other.
func (s *Settings) take() (*config.Config, error) {
	if s.config == nil {
		return config.New(), nil
	}
	if s.taken.Swap(true) {
		return config.New(), errors.New("the Settings belong to another server")
	}
	return s.config, nil
}
