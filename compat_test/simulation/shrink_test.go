package simulation

import (
	"slices"
	"time"
)

// shrink searches for fewer steps that break the same invariant, for at most patience.
// It removes actors, many at a time at first, and then runs of steps.
func (p plan) shrink(r result, patience time.Duration) result {
	end := time.Now().Add(patience)
	p.tell = nil
	late := func() bool { return time.Now().After(end) }
	try := func(steps []step) bool {
		shorter := p.replay(steps)
		if shorter.broken == nil || shorter.broken.rule != r.broken.rule {
			return false
		}
		r = shorter // without the steps after the failed step
		return true
	}
	for before := 0; before != len(r.steps) && !late(); {
		before = len(r.steps)
		remove(actors(r.steps), func(without []uint16) bool {
			return !late() && try(slices.DeleteFunc(slices.Clone(r.steps), func(s step) bool {
				return slices.Contains(without, s.who)
			}))
		})
		for size := len(r.steps) / 2; size > 0; size /= 2 {
			for to := len(r.steps); to > 0 && !late(); to -= size {
				to = min(to, len(r.steps))
				try(slices.Delete(slices.Clone(r.steps), max(to-size, 0), to))
			}
		}
	}
	return r
}

// remove tries to remove parts of all, the largest first, and keeps all removals that
// still fail.
func remove(all []uint16, goes func([]uint16) bool) {
	for size := len(all) / 2; size > 0; size /= 2 {
		for from := 0; from < len(all); {
			to := min(from+size, len(all))
			if goes(all[from:to]) {
				all = slices.Delete(slices.Clone(all), from, to)
			} else {
				from = to
			}
		}
	}
}

// actors returns the actors of the steps.
func actors(steps []step) []uint16 {
	seen := map[uint16]bool{}
	var all []uint16
	for _, s := range steps {
		if !seen[s.who] {
			seen[s.who] = true
			all = append(all, s.who)
		}
	}
	slices.Sort(all)
	return all
}
