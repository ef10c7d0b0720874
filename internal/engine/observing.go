package engine

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/heapsize"
	"github.com/lockredis/lockredis/internal/latency"
	"github.com/lockredis/lockredis/internal/slowlog"
	"github.com/lockredis/lockredis/resp"
)

// This file measures commands. Their durations go to the command table (command.CallStats),
// and the long ones to SLOWLOG and LATENCY. In a script one call of 32 stands for the others,
// unless SLOWLOG or LATENCY asks for short ones.
//
// MONITOR, SLOWLOG, LATENCY and tracking are rooms. While no client uses them, a command pays
// a comparison for each.

// begin returns when the command of c begins, in ns since the stopwatch's start. ok is false
// if the command is not measured.
func (e *Engine) begin(c *command.Ctx) (at int64, ok bool) {
	switch c.From {
	case command.FromClient, command.FromExec:
		if !e.midway {
			return e.stopwatch.now, true // of the unit, or of the command before in EXEC
		}
	case command.FromWait:
		return 0, false // its caller measures
	case command.FromScript:
		if !e.measuresAll() && c.Calls().Skip() {
			return 0, false
		}
	}
	return e.stopwatch.read(), true
}

// exactBelow is the least slowlog-log-slower-than, in µs, with which some commands of a script
// need not be measured.
const exactBelow = 1000

// measuresAll reports whether every command of a script is measured: LATENCY or SLOWLOG asks
// for short ones.
func (e *Engine) measuresAll() bool {
	cfg := e.env.Config
	return uint64(cfg.SlowerThan) < exactBelow || cfg.LatencyThreshold > 0
}

// end returns how long the command of c took, in ns. began is what begin returned.
func (e *Engine) end(c *command.Ctx, began int64) (took int64) {
	took = max(e.stopwatch.read()-began, 0)
	switch c.From {
	case command.FromClient:
		e.stopwatch.fresh = !e.midway
	case command.FromScript:
		c.Calls().Sampled(took, e.env.Config.LatencyTracking)
	}
	return took
}

// account adds the duration of a command of a client, a transaction, a script or the test kit
// to the statistics. A command that waits now counts in latencystats and SLOWLOG when it is
// served.
func (e *Engine) account(c *command.Ctx, args resp.Args, took int64) {
	calls, cfg := c.Calls(), e.env.Config
	calls.Took(took)
	if c.Session.Parked != nil {
		e.accountParked(c, args, took)
		return
	}
	if cfg.LatencyTracking {
		calls.Record(took)
	}
	if cfg.LatencyThreshold > 0 {
		e.spike(latencyEvent(c.Cmd), took)
	}
	if e.slow(took) {
		e.logSlow(c, visible(c, args), took)
	}
}

// accountParked does so for a command that waits now.
func (e *Engine) accountParked(c *command.Ctx, args resp.Args, took int64) {
	p := c.Session.Parked
	p.Took = took
	e.spike(latencyEvent(c.Cmd), took)
	if e.env.Config.SlowerThan >= 0 {
		p.Line = slowlog.Cut(visible(c, args))
		n := heapsize.Pointers[string](len(p.Line))
		for _, arg := range p.Line {
			n += heapsize.Text(len(arg))
		}
		e.parking.hold(p, int64(n))
	}
}

// accountServed adds the time that it took to serve a parked command.
func (e *Engine) accountServed(p *command.Parked, took int64) {
	e.env.Table.Calls(p.Cmd).Took(took)
	if e.env.Config.LatencyTracking {
		e.env.Table.Calls(p.Cmd).Record(p.Took + took)
	}
	if p.Line != nil && e.slow(p.Took+took) {
		e.addSlow(slowlog.Entry{
			Args: p.Line, Micros: (p.Took + took) / 1000, Addr: p.Session.Addr, Name: p.Session.Name,
		})
	}
	e.spike("command-unblocking", took)
}

// slow reports whether SLOWLOG keeps a command that took so many ns.
func (e *Engine) slow(took int64) bool {
	return uint64(took/1000) >= uint64(e.env.Config.SlowerThan) // a negative limit is huge
}

// logSlow adds a command to SLOWLOG.
func (e *Engine) logSlow(c *command.Ctx, args resp.Args, took int64) {
	if c.Cmd.Has(command.SkipSlowlog) {
		return
	}
	entry := slowlog.Entry{
		Args: slowlog.Cut(args), Micros: took / 1000, Addr: c.Session.Addr, Name: c.Session.Name,
	}
	if c.From == command.FromScript { // in Redis a script's client has no connection
		entry.Addr, entry.Name = "?:0", ""
	}
	e.addSlow(entry)
}

func (e *Engine) addSlow(entry slowlog.Entry) {
	entry.Unix = e.stopwatch.unix()
	e.env.SlowLog.Add(entry, e.env.Config.SlowlogMax)
}

// latencyEvent returns the name of the event that c's duration belongs to.
func latencyEvent(cmd *command.Command) string {
	if cmd.Has(command.Fast) {
		return "fast-command"
	}
	return "command"
}

// spike adds an event that took so many ns to LATENCY, if that is long enough.
func (e *Engine) spike(event string, took int64) {
	least, millis := e.env.Config.LatencyThreshold, took/1e6
	if least > 0 && millis >= least {
		e.env.Latency.Add(event, latency.Spike{Unix: e.stopwatch.unix(), Millis: millis})
	}
}

// visible returns args as SLOWLOG and MONITOR show them: without passwords.
func visible(c *command.Ctx, args resp.Args) resp.Args {
	if c.Session.Hidden == nil {
		return args
	}
	shown := append(resp.Args{}, args...)
	for _, i := range c.Session.Hidden {
		if i < len(shown) {
			shown[i] = []byte("(redacted)")
		}
	}
	return shown
}
