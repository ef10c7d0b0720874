package differential

import (
	"slices"
	"strings"

	"github.com/lockredis/lockredis/compat_test/wire"
)

// slowlog are the settings with which SLOWLOG keeps all commands of a sequence, or none.
func (m mode) slowlog() []string {
	if m.slow {
		return []string{"slowlog-log-slower-than", "0", "slowlog-max-len", "100000"}
	}
	return []string{"slowlog-log-slower-than", hourInMicros, "slowlog-max-len", "128"}
}

// compareSlowlog compares what SLOWLOG says about the sequence: the arguments of the commands, as
// SLOWLOG cuts them, and the names of their clients. Ids, times and addresses are the servers' own.
func (r *run) compareSlowlog() (*difference, error) {
	if !r.seq.slow {
		return nil, nil
	}
	var oracle, target []string
	d, err := r.both("SLOWLOG GET", func(s *server) error {
		v, err := s.do(s.poll, emission{args: []string{"SLOWLOG", "GET", "-1"}})
		if s == r.target {
			target = slowLines(v)
		} else {
			oracle = slowLines(v)
		}
		return err
	})
	if d != nil || err != nil {
		return d, err
	}
	for i := range max(len(oracle), len(target)) {
		if a, b := at(oracle, i), at(target, i); a != b {
			return &difference{what: "SLOWLOG, entry " + decimal(i+1) + " (after " + at(oracle, i-1) + ")",
				name: "SLOWLOG", oracle: a, target: b}, nil
		}
	}
	return nil, nil
}

// slowLines renders the entries of SLOWLOG GET, oldest first. It leaves out scans, because each
// server has its own cursors.
func slowLines(v wire.Value) []string {
	var lines []string
	for _, e := range v.Elems {
		if len(e.Elems) != 6 {
			return []string{v.String()}
		}
		words := e.Elems[3].Elems
		if len(words) > 0 && strings.HasSuffix(strings.ToUpper(string(words[0].Str)), "SCAN") {
			continue
		}
		lines = append(lines, e.Elems[3].String()+" name="+string(e.Elems[5].Str))
	}
	slices.Reverse(lines)
	return lines
}
