package differential

import (
	"slices"
	"strings"
)

// minimize removes steps, and then single commands of transactions, as long as the
// sequence still fails. rapid shrinks arguments well, and long lists slowly.
func minimize(s sequence, fails func(sequence) bool) sequence {
	for size := max(len(s.steps)/2, 1); ; size /= 2 {
		for at := 0; at < len(s.steps); {
			smaller := s
			smaller.steps = slices.Delete(slices.Clone(s.steps), at, min(at+size, len(s.steps)))
			if fails(smaller) {
				s = smaller
			} else {
				at += size
			}
		}
		if size <= 1 {
			break
		}
	}
	s = minimizeGroups(s, fails)
	for _, simpler := range []func(*sequence){func(s *sequence) { s.small = false },
		func(s *sequence) { s.policy = "" }, func(s *sequence) { s.slow = false }, func(s *sequence) { s.resp, s.tracking, s.single = 2, nil, false },
		func(s *sequence) { s.tracking, s.single = nil, false }} {
		candidate := s
		simpler(&candidate)
		if fails(candidate) {
			s = candidate
		}
	}
	return minimizeWords(s, fails)
}

// replace returns the sequence with another step at index i.
func (s sequence) replace(i int, st step) sequence {
	s.steps = slices.Clone(s.steps)
	s.steps[i] = st
	return s
}

func minimizeGroups(s sequence, fails func(sequence) bool) sequence {
	for i := range s.steps {
		for j := 0; j < len(s.steps[i].items) && len(s.steps[i].items) > 1; {
			st := s.steps[i]
			st.items = slices.Delete(slices.Clone(st.items), j, j+1)
			if candidate := s.replace(i, st); fails(candidate) {
				s = candidate
			} else {
				j++
			}
		}
		if len(s.steps[i].items) == 1 && s.steps[i].kind != stepCommand && !s.steps[i].kind.lapses() {
			if candidate := s.replace(i, step{items: s.steps[i].items}); fails(candidate) {
				s = candidate
			}
		}
	}
	return s
}

// minimizeWords removes single words of commands, and sends commands plainly that went
// through a script.
func minimizeWords(s sequence, fails func(sequence) bool) sequence {
	for i := range s.steps {
		if s.steps[i].kind.lapses() || s.steps[i].kind == stepScan {
			continue
		}
		for j := range s.steps[i].items {
			for k := len(s.steps[i].items[j].args) - 1; k > 0; k-- {
				if k >= len(s.steps[i].items[j].args) || waits(s.steps[i].items[j].args[0]) {
					continue
				}
				try := s.change(i, j, func(inv *invocation) {
					inv.args = slices.Delete(slices.Clone(inv.args), k, k+1)
				})
				if fails(try) {
					s = try
				}
			}
			if try := s.change(i, j, func(inv *invocation) {
				inv.via = viaPlain
			}); s.steps[i].items[j].via != viaPlain && !waits(s.steps[i].items[j].args[0]) && fails(try) {
				s = try
			}
		}
	}
	return s
}

// waits reports whether a command may wait, so that it would wait forever with another
// timeout.
func waits(name string) bool {
	return len(name) > 0 && (name[0] == 'B' || name[0] == 'b') || strings.EqualFold(name, "WAITAOF")
}

func (s sequence) change(i, j int, f func(*invocation)) sequence {
	st := s.steps[i]
	st.items = slices.Clone(st.items)
	f(&st.items[j])
	return s.replace(i, st)
}
