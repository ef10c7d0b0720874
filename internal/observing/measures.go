package observing

import (
	"fmt"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/latency"
	"github.com/lockredis/lockredis/internal/slowlog"
	"github.com/lockredis/lockredis/resp"
)

// Measures takes the durations of commands. They go to the command table (command.CallStats), and the
// long ones to SLOWLOG and LATENCY. In a script one call of 32 stands for the others, unless SLOWLOG
// or LATENCY asks for short ones.
type Measures struct {
	env   *command.Env
	watch *Stopwatch
	every bool // every call of a script is measured
}

// exactBelow is the least slowlog-log-slower-than, in µs, with which some commands of a script
// need not be measured.
const exactBelow = 1000

// NewMeasures returns measures of env's commands. Follow is called before the first of them.
func NewMeasures(env *command.Env, watch *Stopwatch) *Measures {
	return &Measures{env: env, watch: watch}
}

// Follow applies the directives of SLOWLOG and LATENCY. It is called at the start, and after a change
// of one of them. A SLOWLOG that is off keeps its entries until it is on again.
func (m *Measures) Follow() {
	m.every = m.asksForEvery()
	if cfg := m.env.Config; cfg.SlowerThan >= 0 { // as in Redis
		m.env.SlowLog.Shrink(cfg.SlowlogMax)
	}
}

// Reset empties SLOWLOG and LATENCY.
func (m *Measures) Reset() {
	m.env.SlowLog.Reset()
	m.env.Latency = latency.Events{}
}

// asksForEvery reports whether SLOWLOG or LATENCY asks for short commands.
func (m *Measures) asksForEvery() bool {
	cfg := m.env.Config
	return uint64(cfg.SlowerThan) < exactBelow || cfg.LatencyThreshold > 0
}

// Check returns an error when Follow was not called after a change. It is for tests.
func (m *Measures) Check() error {
	if want := m.asksForEvery(); m.every != want {
		return fmt.Errorf("observing: every call of a script is measured: %t instead of %t", m.every, want)
	}
	return nil
}

// Begins returns when the command of c begins, in ns since the stopwatch's start. ok is false
// if the command is not measured.
func (m *Measures) Begins(c *command.Ctx) (at int64, ok bool) {
	switch c.From {
	case command.FromClient, command.FromExec:
		return m.watch.Now, true // of the unit, or of the command before
	case command.FromWait:
		return 0, false // its caller measures
	case command.FromScript:
		if !m.every && c.Table.Calls(c.Cmd).Skip() {
			return 0, false
		}
	}
	return m.watch.Read(), true
}

// Ends adds the duration of a command of a client, a transaction, a script or the test kit to calls,
// the command's statistics. began is what Begins returned. A command that waits now counts in
// latencystats and SLOWLOG when it is served.
func (m *Measures) Ends(c *command.Ctx, calls *command.CallStats, args resp.Args, began int64) {
	cfg := m.env.Config
	took := max(m.watch.Read()-began, 0)
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
		m.Spike(latencyEvent(c.Cmd), took)
	}
	if m.slow(took) {
		m.logSlow(c, visible(c, args), took)
	}
}

// parked notes how long a command has run that waits now, and its line for SLOWLOG.
func (m *Measures) parked(c *command.Ctx, args resp.Args, took int64) {
	p := c.Session.Parked
	p.Took = took
	m.Spike(latencyEvent(c.Cmd), took)
	if m.env.Config.SlowerThan >= 0 {
		p.Line = slowlog.Cut(visible(c, args))
	}
}

// Served adds the ns that it took to serve a parked command.
func (m *Measures) Served(p *command.Parked, took int64) {
	m.env.Table.Calls(p.Cmd).Served(took, p.Took, m.env.Config.LatencyTracking)
	if p.Line != nil && m.slow(p.Took+took) {
		m.addSlow(slowlog.Entry{
			Args: p.Line, Micros: (p.Took + took) / 1000, Addr: p.Session.Addr, Name: p.Session.Name,
		})
	}
	m.Spike("command-unblocking", took)
}

// slow reports whether SLOWLOG keeps a command of that duration, in ns.
func (m *Measures) slow(took int64) bool {
	return uint64(took/1000) >= uint64(m.env.Config.SlowerThan) // a negative limit is huge
}

// logSlow adds a command to SLOWLOG.
func (m *Measures) logSlow(c *command.Ctx, args resp.Args, took int64) {
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

func (m *Measures) addSlow(entry slowlog.Entry) {
	entry.Unix = m.watch.unix()
	m.env.SlowLog.Add(entry, m.env.Config.SlowlogMax)
}

// latencyEvent returns the name of the event that c's duration belongs to.
func latencyEvent(cmd *command.Command) string {
	if cmd.Has(command.Fast) {
		return "fast-command"
	}
	return "command"
}

// Spike adds an event to LATENCY if its duration, in ns, reaches latency-monitor-threshold.
func (m *Measures) Spike(event string, took int64) {
	least, millis := m.env.Config.LatencyThreshold, took/1e6
	if least > 0 && millis >= least {
		m.env.Latency.Add(event, latency.Spike{Unix: m.watch.unix(), Millis: millis})
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
