package fault

import "github.com/lockredis/lockredis/internal/command"

// stop is a server that hangs, as a process does that SIGSTOP has stopped: connections stay open and
// can be opened, but no request of a client runs and no output leaves. Test kits do not notice it.
// Time goes on, so leases end.
type stop struct{ rule *Rule }

// stop stops the server for rule.For.
func (f *Injector) stop(rule *Rule) {
	begun := &stop{rule}
	f.stopped = begun
	f.env.Clients.Each(func(s *command.Session) bool {
		f.delays = append(f.delays, &delay{rule: rule, session: s, output: f.tap(s, rule)})
		return true
	})
	f.env.Server.After(rule.For, func() {
		f.engine.Outside(func() {
			if f.stopped == begun {
				f.letGo(rule, 0)
			}
		})
	})
}

// await delays a request of s until the stop is over. unseen means that no rule was asked about a new
// request: then the rules are asked after the stop.
func (f *Injector) await(s *command.Session, unseen bool) Verdict {
	d := f.requests[s]
	if d != nil && !d.passed {
		return Delayed
	}
	if d == nil {
		d = &delay{session: s, unseen: unseen}
		f.requests[s] = d
	}
	f.wentOn(s)
	d.passed, d.rule = false, f.stopped.rule
	f.delays = append(f.delays, d)
	return Delayed
}
