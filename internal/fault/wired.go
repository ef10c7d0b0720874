package fault

import (
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/lockredis/lockredis/internal/command"
)

// wired is a fault of FAULT.ADD.
type wired struct {
	asked command.Fault
	rule  *Rule
}

// The methods below are command.Faults. Commands call them, so they run inside the engine.

// SetFault puts a fault into effect.
func (f *Injector) SetFault(asked command.Fault) (id int64) {
	f.lastID++
	rule := ruleOf(&asked)
	f.wired[f.lastID] = &wired{asked, rule}
	f.add(rule)
	return f.lastID
}

func ruleOf(asked *command.Fault) *Rule {
	kind, _ := KindNamed(asked.Kind)
	rule := &Rule{Kind: kind, Error: asked.Error, Nth: asked.Nth, Times: asked.Times, For: asked.For}
	fields := Match{
		Command: asked.Command, KeyPattern: asked.Key, Client: asked.Client, Script: asked.Source,
		SHA: asked.SHA, Channel: asked.Channel,
	}
	fields.ClientID, _ = strconv.ParseInt(asked.Client, 10, 64) // 0: it is no id
	if fields != (Match{}) {
		rule.Request, rule.Message = fields.Request, fields.Message
	}
	return rule
}

// Faults returns the faults in effect, in the order of their ids.
func (f *Injector) Faults() []command.FaultState {
	held := f.held()
	states := make([]command.FaultState, 0, len(f.wired))
	for _, id := range f.ids() {
		w := f.wired[id]
		states = append(states, command.FaultState{Fault: w.asked, ID: id, Hits: w.rule.hits, Held: held[w.rule]})
	}
	return states
}

func (f *Injector) ids() []int64 { return slices.Sorted(maps.Keys(f.wired)) }

// ReleaseFault lets up to most items of a fault go.
func (f *Injector) ReleaseFault(id int64, most int) (n int, known bool) {
	w := f.wired[id]
	if w == nil {
		return 0, false
	}
	return f.letGo(w.rule, most), true
}

// RemoveFault ends a fault and lets go what it delays.
func (f *Injector) RemoveFault(id int64) bool {
	w := f.wired[id]
	if w == nil {
		return false
	}
	delete(f.wired, id)
	f.remove(w.rule)
	f.letGo(w.rule, math.MaxInt)
	return true
}

// ClearFaults ends all faults of FAULT.ADD. Those that delay something let it go, in the order of their ids.
func (f *Injector) ClearFaults() (n int) {
	var letGo []*Rule
	held := f.held()
	for _, id := range f.ids() {
		rule := f.wired[id].rule
		f.remove(rule)
		if held[rule] > 0 || rule.Kind == Stop {
			letGo = append(letGo, rule)
		}
		n++
	}
	f.wired = map[int64]*wired{}
	for _, rule := range letGo {
		f.letGo(rule, math.MaxInt)
	}
	return n
}

// CutMuted closes the connections that Mute or Silence has muted: nothing but their end ends that. It is called
// inside the engine.
func (f *Injector) CutMuted() {
	f.env.Clients.Each(func(s *command.Session) bool {
		for t, is := s.Conn.(*tap); is; t, is = t.Conn.(*tap) {
			if t.rule.Kind == Mute && !t.passing {
				f.env.Clients.Kill(s)
				break
			}
		}
		return true
	})
}
