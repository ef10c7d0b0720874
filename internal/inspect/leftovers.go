package inspect

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Leftover is what a test or a command has left behind: a Leak, or another key that must not be there.
type Leftover struct {
	ID       any           // stays the same from one look to the next
	Text     func() string // one sentence
	Deadline int64         // the end of a lock's lease, in Unix ms; 0: none
}

// maxTexts is how many leftovers Describe describes. It counts the others.
const maxTexts = 20

// manyLeaks is the number of locks and leaks with which a look takes long. Then Await looks again only
// once.
const manyLeaks = 1000

// graceTries is how often Await looks again. The pauses are 1 ms, 2 ms, 4 ms and so on, half a second in
// all. The server notices the end of a connection a little later than the client that closed it.
const graceTries = 9

// Await calls look until it finds nothing, during the grace period. try counts from 0. work is how much
// look has looked at. sleep is time.Sleep.
func Await(sleep func(time.Duration), look func(try int) (found, work int)) {
	for try := 0; ; try++ {
		found, work := look(try)
		if found == 0 || try >= graceTries {
			return
		}
		pause := time.Millisecond << try
		if work > manyLeaks {
			pause = time.Millisecond << graceTries
			try = graceTries - 1
		}
		sleep(pause)
	}
}

// AwaitLeftovers returns what is left at the end of the grace period, nil for nothing. A lock that only
// expires in that time is left, because its holder did not release it. look also returns the server's
// time in Unix ms, and how much there was to look at.
func AwaitLeftovers(
	sleep func(time.Duration), look func() (found []Leftover, now int64, work int),
) (left []Leftover) {
	Await(sleep, func(try int) (found, work int) {
		seen, now, work := look()
		if try == 0 {
			left = seen
		} else {
			left = merged(left, seen, now)
		}
		return len(left), work
	})
	return left
}

// Leftovers returns the leaks of a look that keep names. A nil keep names all.
func (s *Snapshot) Leftovers(keep func(*Leak) bool) []Leftover {
	leaks := s.Leaks()
	found := make([]Leftover, 0, len(leaks))
	for i := range leaks {
		if l := &leaks[i]; keep == nil || keep(l) {
			found = append(found, Leftover{ID: l.ID(), Text: l.Text, Deadline: l.Deadline})
		}
	}
	return found
}

// Describe returns the sentences about leftovers in alphabetical order, each behind a line feed and a
// tab.
func Describe(left []Leftover) string {
	var texts []string
	for _, l := range left[:min(len(left), maxTexts)] {
		texts = append(texts, l.Text())
	}
	slices.Sort(texts)
	if n := len(left) - len(texts); n > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", n))
	}
	return "\n\t" + strings.Join(texts, "\n\t")
}

// merged brings the leaks that were left before another look up to date, and adds its new ones. A leak of the
// first look stays if its lease has ended at now, unless a look between saw it released or renewed.
func merged(before, found []Leftover, now int64) (left []Leftover) {
	again := make(map[any]Leftover, len(found))
	for _, l := range found {
		again[l.ID] = l
	}
	for _, l := range before {
		still, ok := again[l.ID]
		if ok && l.Deadline > 0 {
			l.Deadline = still.Deadline
		}
		if ok || l.Deadline > 0 && l.Deadline <= now {
			left = append(left, l)
		}
	}
	for _, l := range Without(found, left) {
		l.Deadline = 0 // of a lock that was acquired after the test
		left = append(left, l)
	}
	return left
}

// Without returns the leftovers that are not among others.
func Without(found, others []Leftover) (left []Leftover) {
	known := make(map[any]bool, len(others))
	for _, l := range others {
		known[l.ID] = true
	}
	for _, l := range found {
		if !known[l.ID] {
			left = append(left, l)
		}
	}
	return left
}
