package engine

import "github.com/lockredis/lockredis/internal/command"

// trackingDoor is the engine as a tracking.Tracker sees it: tracking.Engine.
type trackingDoor struct{ door }

// Current returns the client of the unit's last command.
func (d trackingDoor) Current() *command.Session { return d.current }

// RunsQueue reports whether s is in the middle of EXEC.
func (d trackingDoor) RunsQueue(s *command.Session) bool {
	return d.unit.runsQueue(s)
}

// ScriptKeys returns the keys that the running script declares.
func (d trackingDoor) ScriptKeys() [][]byte { return d.script.keys }

// serving makes s the client of the running command, while a parked command of s is served.
// The function that it returns ends that.
func (d trackingDoor) serving(s *command.Session) (end func()) {
	before := d.current
	d.current = s
	return func() {
		d.tracking.SendWaiting()
		d.current = before
	}
}
