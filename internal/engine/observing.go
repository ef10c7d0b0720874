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
// MONITOR, tracking and the journal are other rooms, see attention.go.
type measures struct{ e *Engine }

// begin returns when the command of c begins, in ns since the stopwatch's start. ok is false
// if the command is not measured.
func (m *measures) begin(c *command.Ctx) (at int64, ok bool) {
	switch c.From {
	case command.FromClient, command.FromExec:
		if !m.e.midway {
			return m.e.stopwatch.now, true // of the unit, or of the command before in EXEC
		}
	case command.FromWait:
		return 0, false // its caller measures
	case command.FromScript:
		if m.e.attention&byLatency == 0 && c.Table.Calls(c.Cmd).Skip() {
			return 0, false
		}
	}
	return m.e.stopwatch.read(), true
}

// end adds the duration of a command of a client, a transaction, a script or the test kit to calls,
// the command's statistics. began is what begin returned. A command that waits now counts in
// latencystats and SLOWLOG when it is served.
func (m *measures) end(c *command.Ctx, calls *command.CallStats, args resp.Args, began int64) {
	cfg := m.e.env.Config
	took := max(m.e.stopwatch.read()-began, 0)
	if c.From == command.FromScript {
		calls.Sampled(took, cfg.LatencyTracking)
	}
	if c.Session.Parked != nil {
		calls.Took(took, false)
		m.parked(c, args, took)
		return
	}
	calls.Took(took, cfg.LatencyTracking)
	if cfg.LatencyThreshold > 0 {
		m.spike(latencyEvent(c.Cmd), took)
	}
	if m.slow(took) {
		m.logSlow(c, visible(c, args), took)
	}
}

// parked notes how long a command has run that waits now.
func (m *measures) parked(c *command.Ctx, args resp.Args, took int64) {
	p := c.Session.Parked
	p.Took = took
	m.spike(latencyEvent(c.Cmd), took)
	if m.e.env.Config.SlowerThan >= 0 {
		p.Line = slowlog.Cut(visible(c, args))
		n := heapsize.Pointers[string](len(p.Line))
		for _, arg := range p.Line {
			n += heapsize.Text(len(arg))
		}
		m.e.parking.addBytes(p, int64(n))
	}
}

// served adds the time that it took to serve a parked command.
func (m *measures) served(p *command.Parked, took int64) {
	m.e.env.Table.Calls(p.Cmd).Served(took, p.Took, m.e.env.Config.LatencyTracking)
	if p.Line != nil && m.slow(p.Took+took) {
		m.addSlow(slowlog.Entry{
			Args: p.Line, Micros: (p.Took + took) / 1000, Addr: p.Session.Addr, Name: p.Session.Name,
		})
	}
	m.spike("command-unblocking", took)
}

// slow reports whether SLOWLOG keeps a command that took so many ns.
func (m *measures) slow(took int64) bool {
	return uint64(took/1000) >= uint64(m.e.env.Config.SlowerThan) // a negative limit is huge
}

// logSlow adds a command to SLOWLOG.
func (m *measures) logSlow(c *command.Ctx, args resp.Args, took int64) {
	if c.Cmd.Has(command.SkipSlowlog) {
		return
	}
	entry := slowlog.Entry{
		Args: slowlog.Cut(args), Micros: took / 1000, Addr: c.Session.Addr, Name: c.Session.Name,
	}
	if c.From == command.FromScript { // in Redis a script's client has no connection
		entry.Addr, entry.Name = "?:0", ""
	}
	m.addSlow(entry)
}

func (m *measures) addSlow(entry slowlog.Entry) {
	entry.Unix = m.e.stopwatch.unix()
	m.e.env.SlowLog.Add(entry, m.e.env.Config.SlowlogMax)
}

// latencyEvent returns the name of the event that c's duration belongs to.
func latencyEvent(cmd *command.Command) string {
	if cmd.Has(command.Fast) {
		return "fast-command"
	}
	return "command"
}

// spike adds an event that took so many ns to LATENCY, if that is long enough.
func (m *measures) spike(event string, took int64) {
	least, millis := m.e.env.Config.LatencyThreshold, took/1e6
	if least > 0 && millis >= least {
		m.e.env.Latency.Add(event, latency.Spike{Unix: m.e.stopwatch.unix(), Millis: millis})
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
