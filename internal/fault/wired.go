package fault

import (
	"math"
	"slices"
	"strconv"

	"github.com/lockredis/lockredis/internal/command"
)

// wired is a fault of FAULT.ADD.
type wired struct {
	id    int64
	asked command.Fault
	rule  *Rule
}

// The methods below are command.Faults. Commands call them, so they run inside the engine.

// SetFault puts a fault into effect.
func (f *Injector) SetFault(asked command.Fault) (id int64) {
	f.lastID++
	rule := ruleOf(&asked)
	f.wired = append(f.wired, &wired{f.lastID, asked, rule})
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

// Faults returns the faults in effect.
func (f *Injector) Faults() []command.FaultState {
	states := make([]command.FaultState, len(f.wired))
	for i, w := range f.wired {
		states[i] = command.FaultState{Fault: w.asked, ID: w.id, Hits: w.rule.hits, Held: f.held(w.rule)}
	}
	return states
}

func (f *Injector) wiredAt(id int64) int {
	return slices.IndexFunc(f.wired, func(w *wired) bool { return w.id == id })
}

// ReleaseFault lets up to most items of a fault go.
func (f *Injector) ReleaseFault(id int64, most int) (n int, known bool) {
	i := f.wiredAt(id)
	if i < 0 {
		return 0, false
	}
	return f.letGo(f.wired[i].rule, most), true
}

// RemoveFault ends a fault and lets go what it delays.
func (f *Injector) RemoveFault(id int64) bool {
	i := f.wiredAt(id)
	if i < 0 {
		return false
	}
	rule := f.wired[i].rule
	f.wired = slices.Delete(f.wired, i, i+1)
	f.remove(rule)
	f.letGo(rule, math.MaxInt)
	return true
}

// ClearFaults ends all faults of FAULT.ADD.
func (f *Injector) ClearFaults() (n int) {
	for ; len(f.wired) > 0; n++ {
		f.RemoveFault(f.wired[0].id)
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
