package faults

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// rules say what the checker expects of a kind.
type rules struct {
	lease    time.Duration
	free     time.Duration // how long a lock may be free with a waiter
	capacity int           // permits; 0 for locks
	fair     time.Duration // FairWait: so long grants come in the order of arrival; 0: they do not
	tokens   bool          // grants have increasing tokens
	joint    bool          // the names are parts of multi-locks
}

const (
	// freeGrace is how long a lock may be free with a waiter, beside the lease, when
	// processes crash.
	freeGrace = 500 * time.Millisecond

	// recovery is how long clients may need after a server is back.
	recovery = 1500 * time.Millisecond

	// schedule is how long this busy process may need to run an owner's goroutine after
	// the end of the owner's trust.
	schedule = 50 * time.Millisecond

	// told is how long owners may need to learn that their server lost its data, beside
	// a third of the lease.
	told = 500 * time.Millisecond
)

// verdict is the result of a check.
type verdict struct {
	violations []violation
	lost       int           // holds
	longest    time.Duration // that a lock was free with a waiter
	afterLoss  time.Duration // longest overlap that a server's loss of data explains
	late       time.Duration // longest overlap because the scheduler told an owner too late
}

func (r *record) check(rules rules) verdict {
	r.mu.Lock()
	defer r.mu.Unlock()
	v := verdict{violations: slices.Clone(r.faulty)}
	byName := map[string][]grant{}
	for _, g := range r.grants {
		byName[g.name] = append(byName[g.name], g)
		if g.lost {
			v.lost++
		}
	}
	for _, grants := range byName {
		slices.SortFunc(grants, func(a, b grant) int { return cmp.Compare(a.from, b.from) })
		if rules.capacity > 0 {
			v.checkCapacity(grants, rules)
		} else {
			v.checkOverlap(r, grants, rules)
		}
		if rules.fair > 0 {
			v.checkOrder(r, grants, rules)
		}
		if rules.tokens {
			v.checkTokens(r, grants)
		}
	}
	if rules.joint {
		v.checkFree(r, "", r.grants, rules)
	} else {
		for name, grants := range byName {
			v.checkFree(r, name, grants, rules)
		}
	}
	slices.SortFunc(v.violations, func(a, b violation) int { return cmp.Compare(a.at, b.at) })
	return v
}

func (v *verdict) violate(rule string, at time.Duration, format string, args ...any) {
	v.violations = append(v.violations, violation{rule, fmt.Sprintf(format, args...), at})
}

// checkOverlap finds two owners that believed to hold a lock at the same time.
func (v *verdict) checkOverlap(r *record, grants []grant, rules rules) {
	for i, a := range grants {
		for _, b := range grants[i+1:] {
			if b.from >= a.to {
				// Grants are sorted by from, so no later one overlaps a.
				break
			}
			both := min(a.to, b.to) - b.from
			if a.shared && b.shared || both <= 0 {
				continue
			}
			if both <= schedule && (b.from >= a.to-a.late || a.lost && r.closing(a, b.from)) {
				v.late = max(v.late, both)
				continue
			}
			granted := a.from
			if rules.joint { // this part of b, or of a, may be older than its hold
				granted = min(a.asked, b.asked)
			}
			if r.lostData(granted, b.from) {
				v.afterLoss = max(v.afterLoss, both)
				if both <= rules.lease/3+told {
					continue
				}
			}
			v.violate("overlap", b.from, "%s: two owners for %s: %s and %s", a.name, round(both), a, b)
		}
	}
}

// closing reports whether the process of a hold was being shut down at a time: rlock ends the
// hold's context before it releases the lock, and the owner's goroutine runs a little later.
func (r *record) closing(g grant, at time.Duration) bool {
	return slices.ContainsFunc(r.events, func(e event) bool {
		return e.what == shutDown && e.process == g.process && e.from <= at && at <= e.to+schedule
	})
}

// lostData reports whether a server lost its data in a time.
func (r *record) lostData(from, to time.Duration) bool {
	return slices.ContainsFunc(r.events, func(e event) bool {
		return e.loss && e.from <= to && from <= e.to
	})
}

// serverFault reports whether a server had a fault in a time. After a failover the new
// master may not have the whole queue.
func (r *record) serverFault(from, to time.Duration) bool {
	return slices.ContainsFunc(r.events, func(e event) bool {
		return e.process < 0 && e.from <= to && from <= e.to
	})
}

// checkCapacity finds times with more permits than there are.
func (v *verdict) checkCapacity(grants []grant, rules rules) {
	for i, at := range grants {
		sum, holders := at.n, []string{at.String()}
		for _, g := range grants[:i] {
			if g.to > at.from {
				sum += g.n
				holders = append(holders, g.String())
			}
		}
		if sum > rules.capacity {
			v.violate("permits", at.from, "%s: %d of %d permits: %s", at.name, sum, rules.capacity,
				strings.Join(holders, ", "))
		}
	}
}

// checkOrder finds an owner that came later and was served earlier, without a fault. A
// waiter that does not take the lock for FairWait, because of an earlier fault, leaves the
// queue.
func (v *verdict) checkOrder(r *record, grants []grant, rules rules) {
	for _, a := range grants {
		if a.contended == 0 || a.faultsAsked != a.faults || a.from-a.asked >= rules.fair ||
			r.serverFault(a.asked, a.from) {
			continue
		}
		for _, b := range grants {
			if b.contended != 0 && b.asked > a.contended && b.to <= a.from && b.from < a.from {
				v.violate("order", a.from, "%s: %s asked later than %s and was served earlier", a.name, b, a)
			}
		}
	}
}

// checkTokens finds a token that is not higher than an earlier one.
func (v *verdict) checkTokens(r *record, grants []grant) {
	for i, g := range grants {
		if i > 0 && g.token <= grants[i-1].token && !r.lostData(grants[i-1].from, g.from) {
			v.violate("token", g.from, "%s: %s has no higher token than %s", g.name, g, grants[i-1])
		}
	}
}

// span is a time.
type span struct{ from, to time.Duration }

// checkFree finds a lock that was free for too long although an acquisition waited.
func (v *verdict) checkFree(r *record, name string, grants []grant, rules rules) {
	held := make([]span, 0, len(grants))
	for _, g := range grants {
		held = append(held, span{g.from, g.to})
	}
	if rules.capacity > 0 {
		held = crowded(grants, rules.capacity-1) // less than two permits are free
	}
	held = union(held)
	var waited []span
	for _, w := range r.waits {
		if w.name == name && w.patient {
			waited = append(waited, r.able(w)...)
		}
	}
	waited = union(waited)
	for _, free := range between(held, waited) {
		length := free.to - free.from
		v.longest = max(v.longest, length)
		if length > rules.free {
			v.violate("free", free.from, "%s: free for %s with a waiter, from %s to %s; before: %s",
				cmp.Or(name, "all parts"), round(length), round(free.from), round(free.to),
				lastBefore(grants, free.from))
		}
	}
}

// able returns the times in which no fault of the waiter's process or of a server keeps
// it from being served.
func (r *record) able(w waiting) []span {
	spans := []span{{w.from, w.to}}
	for _, e := range r.events {
		if e.process != -1 && e.process != w.process {
			continue
		}
		until := e.to
		if until < 1<<61 {
			until += recovery
		}
		var rest []span
		for _, s := range spans {
			if e.from > s.to || until < s.from {
				rest = append(rest, s)
				continue
			}
			if s.from < e.from {
				rest = append(rest, span{s.from, e.from})
			}
			if until < s.to {
				rest = append(rest, span{until, s.to})
			}
		}
		spans = rest
	}
	return spans
}

// crowded returns the times in which at least n permits are held.
func crowded(grants []grant, n int) (spans []span) {
	type step struct {
		at time.Duration
		by int
	}
	var steps []step
	for _, g := range grants {
		steps = append(steps, step{g.from, g.n}, step{g.to, -g.n})
	}
	slices.SortFunc(steps, func(a, b step) int { return cmp.Compare(a.at, b.at) })
	sum, from := 0, time.Duration(-1)
	for _, s := range steps {
		before := sum
		sum += s.by
		if before < n && sum >= n {
			from = s.at
		}
		if before >= n && sum < n {
			spans = append(spans, span{from, s.at})
		}
	}
	return spans
}

// union merges spans that overlap or touch. The result is sorted.
func union(spans []span) (merged []span) {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	for _, s := range spans {
		if n := len(merged); n > 0 && s.from <= merged[n-1].to {
			merged[n-1].to = max(merged[n-1].to, s.to)
			continue
		}
		merged = append(merged, s)
	}
	return merged
}

// between returns the parts of waited that are not in held.
func between(held, waited []span) (free []span) {
	for _, w := range waited {
		at := w.from
		i, _ := slices.BinarySearchFunc(held, at, func(h span, at time.Duration) int {
			return cmp.Compare(h.to, at)
		})
		for ; i < len(held) && held[i].from < w.to; i++ {
			if held[i].from > at {
				free = append(free, span{at, held[i].from})
			}
			at = max(at, held[i].to)
		}
		if at < w.to {
			free = append(free, span{at, w.to})
		}
	}
	return free
}

// lastBefore returns the grants that ended last before a time.
func lastBefore(grants []grant, at time.Duration) string {
	ended := slices.DeleteFunc(slices.Clone(grants), func(g grant) bool { return g.to > at })
	slices.SortFunc(ended, func(a, b grant) int { return cmp.Compare(b.to, a.to) })
	var texts []string
	for _, g := range ended[:min(2, len(ended))] {
		texts = append(texts, g.String())
	}
	return strings.Join(texts, ", ")
}

func (g grant) String() string {
	mode := ""
	if g.shared {
		mode = " reading"
	}
	if g.token > 0 {
		mode += fmt.Sprintf(" token %d", g.token)
	}
	owner := g.owner
	if _, thread, ok := strings.Cut(owner, ":"); ok {
		owner = thread
	}
	return fmt.Sprintf("[process %d owner %s%s asked %s held %s to %s, %s]", g.process, owner, mode,
		round(g.asked), round(g.from), round(g.to), g.how)
}

func round(d time.Duration) time.Duration { return d.Round(100 * time.Microsecond) }
