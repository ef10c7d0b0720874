package control

import (
	"maps"
	"slices"
	"strings"

	"github.com/lockredis/lockredis/internal/fault"
	"github.com/lockredis/lockredis/resp"
)

var errControl = resp.Error("ERR syntax error. Try CONTROL REMEMBER, RESET, FLUSH, LOAD, ENDSCRIPT, " +
	"STOP, START, TURN, COUNTS, CUT or SILENCE.")

// control carries out a CONTROL and returns the encoded reply.
func (d *Door) control(args resp.Args) []byte {
	encoded, reply := d.carryOut(args)
	if encoded == nil {
		encoded = resp.Append(nil, reply, 2)
	}
	return encoded
}

// carryOut carries out a CONTROL. encoded is the reply if it is encoded already. If encoded is nil,
// the reply is in reply.
func (d *Door) carryOut(args resp.Args) (encoded []byte, reply resp.Reply) {
	if len(args) < 2 {
		return nil, errControl
	}
	lookForLeaks := func(run func(...string) resp.Reply) {
		encoded = resp.Append(nil, run("LOCK.LEAKS", "ALL"), 2)
	}
	switch word := strings.ToLower(string(args[1])); {
	case word == "cut":
		return nil, howMany(d.faults.Cut, args[2:])
	case word == "silence":
		return nil, howMany(d.faults.Silence, args[2:])
	case word == "turn":
		return nil, d.turn(args[2:])
	case word == "load" && len(args) == 3:
		d.inside.PutBackSlots()
		err := d.inside.Load(args[2], lookForLeaks)
		return encoded, outcome(err)
	case len(args) > 2:
		return nil, errControl
	case word == "remember":
		d.remember()
		return nil, resp.OK
	case word == "reset":
		return nil, outcome(d.putBack())
	case word == "stop", word == "start":
		return nil, outcome(d.outage(word == "stop"))
	case word == "flush":
		d.inside.Together(func(run func(...string) resp.Reply) {
			lookForLeaks(run)
			run("FLUSHALL")
		})
		d.inside.PutBackSlots()
		return encoded, resp.NoReply
	case word == "endscript":
		d.inside.EndScript()
		return nil, resp.OK
	case word == "counts":
		return nil, d.counts()
	}
	return nil, errControl
}

// putBack puts back what the last Remember has remembered.
func (d *Door) putBack() error {
	d.mu.Lock()
	reset := d.reset
	d.mu.Unlock()
	return reset()
}

// outage begins an outage of the server, or ends it: the server is then as after a start. The error
// says that the server has ended for good.
func (d *Door) outage(begin bool) error {
	if err := d.inside.Running(); err != nil {
		return err
	}
	if begin {
		d.inside.EndScript() // Stop would wait for it
		d.inside.Stop()
		return nil
	}
	err := d.putBack() // first: it ends a script, for which Serve would wait
	d.inside.Serve(false)
	return err
}

// remember makes the present state the one that RESET puts back, and that COUNTS counts from.
func (d *Door) remember() {
	reset, counted := d.inside.Remember(), d.faults.Requests()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.reset, d.counted = reset, counted
}

// counts replies how many requests of each name clients have sent since the last Remember, in the
// order of the names.
func (d *Door) counts() resp.Reply {
	now := d.faults.Requests()
	d.mu.Lock()
	defer d.mu.Unlock()
	var pairs []resp.Reply
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if n := now[name] - d.counted[name]; n > 0 {
			pairs = append(pairs, resp.BulkString(name), resp.Int(int64(n)))
		}
	}
	return resp.Map(pairs...)
}

// howMany calls cut with a function for the clients that the words select, and replies its result:
// [CLIENT name] [SUBSCRIBED].
func howMany(cut func(which func(fault.Client) bool) int, words resp.Args) resp.Reply {
	var name string
	var subscribed bool
	for len(words) > 0 {
		switch {
		case strings.EqualFold(string(words[0]), "client") && len(words) > 1:
			name, words = words.String(1), words[2:]
		case strings.EqualFold(string(words[0]), "subscribed"):
			subscribed, words = true, words[1:]
		default:
			return errControl
		}
	}
	return resp.Int(int64(cut(func(c fault.Client) bool {
		return (name == "" || c.Name == name) && (!subscribed || c.Subscribed)
	})))
}

// outcome returns OK, or an error reply.
func outcome(err error) resp.Reply {
	if err != nil {
		return resp.Error("ERR " + strings.ReplaceAll(err.Error(), "\n", ", "))
	}
	return resp.OK
}
