package observe

import (
	"fmt"
	"strings"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/latency"
	"github.com/lockredis/lockredis/resp"
)

func latencyHistory(c *command.Ctx, args resp.Args) resp.Reply {
	var spikes []resp.Reply
	if e := c.Latency.Find(args.String(2)); e != nil {
		for _, s := range e.Spikes {
			spikes = append(spikes, resp.Array(resp.Int(s.Unix), resp.Int(s.Millis)))
		}
	}
	return resp.Array(spikes...)
}

// latencyLatest lists the events by name. Redis lists them in the order of a hash table.
func latencyLatest(c *command.Ctx, _ resp.Args) resp.Reply {
	var events []resp.Reply
	for _, e := range c.Latency.All() {
		last := e.Latest()
		events = append(events, resp.Array(resp.BulkString(e.Name),
			resp.Int(last.Unix), resp.Int(last.Millis), resp.Int(e.Longest)))
	}
	return resp.Array(events...)
}

func latencyReset(c *command.Ctx, args resp.Args) resp.Reply {
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

// latencyGraph replies the first line of Redis's graph.
func latencyGraph(c *command.Ctx, args resp.Args) resp.Reply {
	e := c.Latency.Find(args.String(2))
	if e == nil {
		return resp.Errorf("ERR No samples available for event '%s'", args[2])
	}
	low, high := e.Extremes()
	return resp.Verbatim(fmt.Sprintf("%s - high %d ms, low %d ms (all time high %d ms)\n",
		e.Name, high, low, e.Longest))
}

func latencyDoctor(c *command.Ctx, _ resp.Args) resp.Reply {
	return resp.Verbatim(fmt.Sprintf("%d events took latency-monitor-threshold (%d ms) or longer: "+
		"LATENCY LATEST lists them.\n", len(c.Latency.All()), c.Config.LatencyThreshold))
}

func latencyHistogram(c *command.Ctx, args resp.Args) resp.Reply {
	var reply []resp.Reply
	add := func(cmd *command.Command, s *command.CallStats) {
		if times := s.Times(c.Config.LatencyTracking); times.Total() > 0 {
			reply = append(reply, resp.BulkString(cmd.Name), distribution(times))
		}
	}
	if len(args) == 2 {
		c.Table.EachCalled(add)
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
