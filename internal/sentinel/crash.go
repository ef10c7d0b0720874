package sentinel

import (
	"strings"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
)

// crash are the steps of a failover at which SENTINEL SIMULATE-FAILURE ends the Sentinel.
type crash uint8

const (
	crashAfterElection crash = 1 << iota
	crashAfterPromotion
)

var errUnknownFailure = resp.Error("ERR Unknown failure simulation specified")

// simulateFailure is SENTINEL SIMULATE-FAILURE. The steps before a mistake stay in effect, as in
// Redis.
func simulateFailure(s *Sentinel, _ *command.Ctx, args resp.Args) resp.Reply {
	s.crashes = 0
	for i := range args[2:] {
		switch strings.ToLower(args.String(i + 2)) {
		case "crash-after-election":
			s.crashes |= crashAfterElection
			s.opts.Log.Warn("Failure simulation: this Sentinel ends when it is elected")
		case "crash-after-promotion":
			s.crashes |= crashAfterPromotion
			s.opts.Log.Warn("Failure simulation: this Sentinel ends when it has promoted a replica")
		case "help":
			return resp.BulkArray([]string{"crash-after-election", "crash-after-promotion"})
		default:
			return errUnknownFailure
		}
	}
	return resp.OK
}

// crashAt ends the Sentinel if SIMULATE-FAILURE has asked for it at that step, and reports
// whether it did. The Sentinel decides and sends nothing more.
func (s *Sentinel) crashAt(step crash) bool {
	if s.crashes&step == 0 {
		return false
	}
	s.opts.Log.Warn("Sentinel CRASH because of SENTINEL simulate-failure")
	s.cancel()
	s.crashed = true
	if s.opts.Crash != nil {
		go s.opts.Crash()
	}
	return true
}
