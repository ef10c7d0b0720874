package latency

import (
	"maps"
	"slices"
)

// kept is how many spikes of an event are kept.
const kept = 160

// Spike is an event that took long.
type Spike struct {
	Unix   int64 // Unix seconds
	Millis int64
}

// Event is a kind of things that took long.
type Event struct {
	Name    string
	Longest int64   // ms, since the last Reset
	Spikes  []Spike // oldest first, one for each second; not empty
}

// Extremes returns the shortest and the longest spike that is kept, in ms.
func (e *Event) Extremes() (low, high int64) {
	low = e.Spikes[0].Millis
	for _, s := range e.Spikes {
		low, high = min(low, s.Millis), max(high, s.Millis)
	}
	return low, high
}

// Latest returns the last spike.
func (e *Event) Latest() Spike { return e.Spikes[len(e.Spikes)-1] }

// Events are the events of LATENCY. The zero value has none.
type Events struct{ byName map[string]*Event }

// Add adds a spike of the event name. Of two spikes in one second the longer one stays.
func (s *Events) Add(name string, spike Spike) {
	e := s.byName[name]
	if e == nil {
		if s.byName == nil {
			s.byName = map[string]*Event{}
		}
		e = &Event{Name: name}
		s.byName[name] = e
	}
	e.Longest = max(e.Longest, spike.Millis)
	if n := len(e.Spikes); n > 0 && e.Spikes[n-1].Unix == spike.Unix {
		e.Spikes[n-1].Millis = max(e.Spikes[n-1].Millis, spike.Millis)
		return
	}
	if len(e.Spikes) == kept {
		e.Spikes = slices.Delete(e.Spikes, 0, 1)
	}
	e.Spikes = append(e.Spikes, spike)
}

// Find returns the event of that name, nil when there is none.
func (s *Events) Find(name string) *Event { return s.byName[name] }

// All returns the events in the order of their names.
func (s *Events) All() (list []*Event) {
	for _, name := range slices.Sorted(maps.Keys(s.byName)) {
		list = append(list, s.byName[name])
	}
	return list
}

// Reset drops an event and reports whether there was one.
func (s *Events) Reset(name string) bool {
	_, known := s.byName[name]
	delete(s.byName, name)
	return known
}
