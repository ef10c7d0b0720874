package server

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/lockredis/lockredis/internal/command"
)

func infoCommandstats(c *command.Ctx, w *command.InfoWriter) {
	c.Table.EachCalled(func(cmd *command.Command, s *command.CallStats) {
		if s.Calls == 0 && s.Rejected == 0 && s.Failed == 0 {
			return
		}
		micros := s.Micros(c.Config.LatencyTracking)
		w.Line("cmdstat_"+cmd.Name, fmt.Sprintf(
			"calls=%d,usec=%d,usec_per_call=%.2f,rejected_calls=%d,failed_calls=%d",
			s.Calls, int64(micros), micros/float64(max(s.Calls, 1)), s.Rejected, s.Failed))
	})
}

func infoLatencystats(c *command.Ctx, w *command.InfoWriter) {
	if !c.Config.LatencyTracking {
		return
	}
	c.Table.EachCalled(func(cmd *command.Command, s *command.CallStats) {
		times := s.Times(true)
		if times.Total() == 0 {
			return
		}
		var shown []string
		for _, p := range c.Config.LatencyPercentiles {
			shown = append(shown, fmt.Sprintf("p%s=%.3f",
				percentileName(p), float64(times.Percentile(p))/1000))
		}
		w.Line("latency_percentiles_usec_"+cmd.Name, strings.Join(shown, ","))
	})
}

// percentileName formats a percentile as Redis does: at most six decimals.
func percentileName(p float64) string {
	return strings.TrimSuffix(strings.TrimRight(strconv.FormatFloat(p, 'f', 6, 64), "0"), ".")
}
