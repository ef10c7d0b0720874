package command

import (
	"fmt"
	"strings"

	"github.com/lockredis/lockredis/internal/latency"
	"github.com/lockredis/lockredis/resp"
)

func latencyHistory(c *Ctx, args resp.Args) resp.Reply {
	var spikes []resp.Reply
	if e := c.Latency.Find(args.String(2)); e != nil {
		for _, s := range e.Spikes {
			spikes = append(spikes, resp.Array(resp.Int(s.Unix), resp.Int(s.Millis)))
		}
	}
	return resp.Array(spikes...)
}

// latencyLatest lists the events by name. Redis lists them in the order of a hash table.
func latencyLatest(c *Ctx, _ resp.Args) resp.Reply {
	var events []resp.Reply
	for _, e := range c.Latency.All() {
		last := e.Latest()
		events = append(events, resp.Array(resp.BulkString(e.Name),
			resp.Int(last.Unix), resp.Int(last.Millis), resp.Int(e.Longest)))
	}
	return resp.Array(events...)
}

func latencyReset(c *Ctx, args resp.Args) resp.Reply {
	var names []string
	for i := range args[2:] {
		names = append(names, args.String(i+2))
	}
	if len(args) == 2 {
		for _, e := range c.Latency.All() {
			names = append(names, e.Name)
		}
	}
	n := int64(0)
	for _, name := range names {
		if c.Latency.Reset(name) {
			n++
		}
	}
	return resp.Int(n)
}

func latencyGraph(c *Ctx, args resp.Args) resp.Reply {
	e := c.Latency.Find(args.String(2))
	if e == nil {
		return resp.Errorf("ERR No samples available for event '%s'", args[2])
	}
	return resp.Verbatim(e.Graph(c.Now() / 1000))
}

// latencyDoctor reports on all events. The prose is our own.
func latencyDoctor(c *Ctx, _ resp.Args) resp.Reply {
	threshold := c.Config.LatencyThreshold
	if threshold == 0 {
		return resp.Verbatim("Nothing is measured, because latency-monitor-threshold is 0. " +
			"CONFIG SET latency-monitor-threshold <milliseconds> starts to measure.\n")
	}
	events := c.Latency.All()
	if len(events) == 0 {
		return resp.Verbatim(fmt.Sprintf("Nothing has taken %d ms or longer.\n", threshold))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "These events have taken %d ms or longer:\n\n", threshold)
	for i, e := range events {
		f := e.Figures()
		fmt.Fprintf(&b, "%d. %s: %d latency spikes (average %dms, mean deviation %dms, period %.2f sec). "+
			"Worst all time event %dms.\n   %s\n", i+1, e.Name, len(e.Spikes), f.Average, f.Deviation,
			f.Period, e.Longest, causes[e.Name])
	}
	return resp.Verbatim(b.String())
}

// causes says what helps against the events.
var causes = map[string]string{
	"command":            "SLOWLOG GET shows which commands take long.",
	"fast-command":       "Commands of constant time took long: the processor may be busy, or the process may be swapped.",
	"command-unblocking": "Clients that wait were served slowly: many of them wait for one key.",
	"expire-cycle":       "Many keys expire at the same time: spread their times to live.",
}

func latencyHistogram(c *Ctx, args resp.Args) resp.Reply {
	var reply []resp.Reply
	add := func(cmd *Command, s *CallStats) {
		if times := s.Times(c.Config.LatencyTracking); times != nil {
			reply = append(reply, resp.BulkString(cmd.Name), distribution(times))
		}
	}
	if len(args) == 2 {
		c.Table.eachCalled(add)
	}
	for _, name := range args[2:] {
		whole, sub, isSub := strings.Cut(string(name), "|")
		cmd := c.Table.Lookup([]byte(whole))
		switch {
		case cmd == nil:
		case isSub:
			if one := cmd.Sub([]byte(sub)); one != nil {
				add(one, c.Table.Calls(one))
			}
		default:
			add(cmd, c.Table.Calls(cmd))
			for _, one := range cmd.Subs {
				add(one, c.Table.Calls(one))
			}
		}
	}
	return resp.Map(reply...)
}

// distribution is the histogram of a command, cumulative.
func distribution(h *latency.Histogram) resp.Reply {
	var steps []resp.Reply
	for _, s := range h.Steps() {
		steps = append(steps, resp.Int(s.Micros), resp.Int(s.Count))
	}
	return resp.Map(resp.BulkString("calls"), resp.Int(h.Total()),
		resp.BulkString("histogram_usec"), resp.Map(steps...))
}
