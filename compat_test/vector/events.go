package vector

import (
	"fmt"
	"strings"

	"github.com/lockredis/lockredis/compat_test/wire"
)

// syncChannel carries the message that marks the end of the events of a command.
const syncChannel = "vector:sync"

// events runs commands. Below each reply it lists the keyspace events that the command
// caused, in order, as "event: channel message".
func (r *Runner) events(commands []string, o options) ([]Step, error) {
	if err := r.listen(); err != nil {
		return nil, err
	}
	// Events of earlier directives do not belong to this one.
	if _, err := r.drain(o); err != nil {
		return nil, err
	}
	var steps []Step
	for _, command := range commands {
		done, err := r.do([]string{command}, o)
		if err != nil {
			return nil, err
		}
		heard, err := r.drain(o)
		if err != nil {
			return nil, err
		}
		done[0].Output = indent(append([]string{done[0].Output}, heard...))
		steps = append(steps, done...)
	}
	return steps, nil
}

// listen subscribes to every keyspace event, once.
func (r *Runner) listen() error {
	if r.listener != nil {
		return nil
	}
	c, err := wire.Dial(r.addr)
	if err != nil {
		return err
	}
	c.SetTimeout(r.timeout)
	r.listener = c
	for _, cmd := range [][]string{{"PSUBSCRIBE", "__key*@*__:*"}, {"SUBSCRIBE", syncChannel}} {
		if v, err := c.Do(cmd...); err != nil || v.IsError() {
			return fmt.Errorf("%s: %s, %w", strings.Join(cmd, " "), v, err)
		}
	}
	return nil
}

// drain returns the events that were published before now.
func (r *Runner) drain(o options) ([]string, error) {
	if _, err := r.controlled("PUBLISH", syncChannel, "end"); err != nil {
		return nil, err
	}
	var heard []string
	for {
		v, err := r.listener.Receive()
		if err != nil {
			return nil, err
		}
		if len(v.Elems) == 3 && string(v.Elems[1].Str) == syncChannel {
			return heard, nil
		}
		if len(v.Elems) != 4 {
			return nil, fmt.Errorf("no event: %s", v)
		}
		channel := strings.Trim(wire.Quote(v.Elems[2].Str), `"`)
		heard = append(heard, "event: "+channel+" "+o.render(v.Elems[3]))
	}
}
