package journal

import (
	"slices"
	"testing"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
)

// The engine's tests show what it says to the journal.

func TestAReaderGetsTheKindsThatItWants(t *testing.T) {
	var j Journal
	if j.IsRead() || j.Wants(KeyAdded) {
		t.Error("a journal without readers is read")
	}
	var keys, units []Kind
	j.Read(func(e *Entry) { keys = append(keys, e.Kind) }, KeyAdded, KeyExpired)
	j.Read(func(e *Entry) { units = append(units, e.Kind) }, UnitBegins, UnitEnds)
	j.Unit(UnitBegins)
	j.Key(KeyAdded, 0, "k")
	j.Key(KeyEvicted, 0, "k")
	j.FieldsExpired(0, "h", []string{"f"}, true)
	j.Unit(UnitEnds)
	if want := []Kind{KeyAdded, KeyExpired}; !slices.Equal(keys, want) {
		t.Errorf("the reader of keys gets %v, want %v", keys, want)
	}
	if want := []Kind{UnitBegins, UnitEnds}; !slices.Equal(units, want) {
		t.Errorf("the reader of units gets %v, want %v", units, want)
	}
	if !j.IsRead() || !j.Wants(KeyAdded) || j.Wants(KeyEvicted) {
		t.Error("the journal does not know what its readers want")
	}
}

func TestTheCauseIsTheInnerCommand(t *testing.T) {
	var j Journal
	var causes []Cause
	j.Read(func(e *Entry) { causes = append(causes, *e.Cause) }, KeyAdded)
	eval, set := &command.Ctx{}, &command.Ctx{From: command.FromScript}
	line := resp.Args{[]byte("line")}
	var reply resp.Reply
	add := func() { j.Key(KeyAdded, 0, "k") }
	j.Begins(eval, line)
	j.Runs(Script{SHA: "sha"})
	j.Begins(set, line)
	add()
	j.Ends(set, line, &reply)
	j.Ran()
	add()
	j.Ends(eval, line, &reply)
	end := j.Because(ByKit)
	add()
	end()
	add()
	want := []Cause{{Reason: ByCommand, Ctx: set}, {Reason: ByCommand, Ctx: eval}, {Reason: ByKit}, {Reason: ByTimer}}
	for i, c := range causes {
		if c.Reason != want[i].Reason || c.Ctx != want[i].Ctx || (c.Script != nil) != (i == 0) {
			t.Errorf("cause %d is %+v, want %+v", i, c, want[i])
		}
	}
}
