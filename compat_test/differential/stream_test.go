package differential

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lockredis/lockredis"
	"github.com/lockredis/lockredis/compat_test/stream"
	"github.com/lockredis/lockredis/internal/backdoor"
	"github.com/lockredis/lockredis/internal/redistest"
)

// TestEveryGeneratedCommandIsToldAsByRedis compares what the servers tell others of changes: Redis
// a replica, lockredis a function inside it. A long run has a quarter of the commands.
func TestEveryGeneratedCommandIsToldAsByRedis(t *testing.T) {
	s := readSettings(t)
	s.commands, s.budget = s.commands/4, s.budget/2
	srv := redistest.Start(t, append(stream.Directives, directives...)...)
	told, stop, err := stream.Replica(srv.Addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	here := stream.NewLog()
	addr := startPrepared(t, func(srv *lockredis.Server) { backdoor.Open(srv).Follow(here.Add) })
	p := newPair(srv.Addr, addr)
	p.oracle.told, p.target.told = told, here
	t.Cleanup(p.close)
	p.check(t, newMaker(s.only), s)
	t.Logf("%d commands in %d sequences", p.report.commands, p.runs)
}

// compareStreams compares what the servers have told since the last sequence.
func (r *run) compareStreams() (*difference, error) {
	if r.oracle.told == nil {
		return nil, nil
	}
	oracle, err := r.oracle.told.Await(" PUBLISH n-end " + r.end)
	if err != nil {
		return nil, err
	}
	target, err := r.target.told.Await(" PUBLISH n-end " + r.end)
	if err != nil {
		return &difference{what: "the stream", name: "stream", oracle: "ends", target: err.Error()}, nil
	}
	for i := range max(len(oracle), len(target)) {
		a, b := at(oracle, i), at(target, i)
		if a != b && !r.sameLine(a, b) {
			return &difference{what: "the stream, line " + decimal(i+1) + " (after " + at(oracle, i-1) + ")",
				name: "stream " + wordOf(a, 1), oracle: a, target: b}, nil
		}
	}
	return nil, nil
}

// sameLine reports whether lines differ by chance only, or by the milliseconds between the servers.
func (r *run) sameLine(a, b string) bool {
	as, bs := strings.Fields(r.unforeseen(a)), strings.Fields(r.unforeseen(b))
	if len(as) != len(bs) {
		return false
	}
	for i := range as {
		n, errN := strconv.ParseInt(as[i], 10, 64)
		m, errM := strconv.ParseInt(bs[i], 10, 64)
		late := errN == nil && errM == nil && n > hundredYears && max(n-m, m-n) < 1000*int64(replyTimeout.Seconds())
		if as[i] != bs[i] && !late {
			return false
		}
	}
	return true
}

// hundredYears is in ms. Deadlines are above it.
const hundredYears = 100 * 365 * 24 * 3600 * 1000

// unforeseen is a line without what depends on chance: the members that SPOP has chosen.
func (r *run) unforeseen(line string) string {
	if wordOf(line, 1) == "SREM" && r.seq.mentions("spop") {
		return strings.Join(strings.Fields(line)[:3], " ")
	}
	return line
}

// mentions reports whether an argument of the sequence has the word, in any case.
func (s sequence) mentions(word string) bool {
	return slices.ContainsFunc(s.steps, func(st step) bool {
		return slices.ContainsFunc(st.items, func(inv invocation) bool {
			return strings.Contains(strings.ToLower(strings.Join(inv.args, " ")), word)
		})
	})
}

// wordOf returns word i of a line, "" if there is none.
func wordOf(line string, i int) string {
	words := strings.Fields(line)
	if i >= len(words) {
		return ""
	}
	return words[i]
}
