package vector

import (
	"fmt"
	"strconv"

	"github.com/cockroachdb/datadriven"
)

// options are the arguments of a directive's first line.
type options struct {
	conn     string   // name of the connection
	proto    int      // the protocol version of a new connection
	n        int      // number of replies to read
	both     bool     // ask in RESP2 and in RESP3
	pipeline bool     // all commands in one write
	blocked  bool     // wait until a command blocks its client
	busy     bool     // until: wait for -BUSY; false: wait for its end
	open     bool     // raw: the bytes are an incomplete frame
	whole    bool     // lua: the input is one script
	command  string   // lua: the command; EVAL by default
	keys     []string // lua
	argv     []string // lua
	sorted   string   // "", "all", "pairs", "scan"
	masks    []string
	fields   []string // names whose values are masked
	among    []string // a bulk with one of these values is masked
}

func parseOptions(d *datadriven.TestData) (options, error) {
	o := options{proto: 2, n: 1, command: "EVAL"}
	for _, arg := range d.CmdArgs {
		if err := o.set(arg); err != nil {
			return o, err
		}
	}
	if o.conn == "" {
		o.conn = fmt.Sprintf("resp%d", o.proto)
	}
	return o, nil
}

func (o *options) set(arg datadriven.CmdArg) error {
	one := ""
	if len(arg.Vals) > 0 {
		one = arg.Vals[0]
	}
	var err error
	switch arg.Key {
	case "conn":
		o.conn = one
	case "resp":
		o.proto, err = strconv.Atoi(one)
	case "n":
		o.n, err = strconv.Atoi(one)
	case "both":
		o.both = true
	case "pipeline":
		o.pipeline = true
	case "blocked":
		o.blocked = true
	case "busy", "free":
		o.busy = arg.Key == "busy"
	case "open":
		o.open = true
	case "whole":
		o.whole = true
	case "cmd":
		o.command = one
	case "keys":
		o.keys = arg.Vals
	case "argv":
		o.argv = arg.Vals
	case "sorted":
		o.sorted = "all"
		if one != "" {
			o.sorted = one
		}
	case "mask":
		o.masks = arg.Vals
	case "fields":
		o.fields = arg.Vals
	case "among":
		o.among = arg.Vals
	default:
		return fmt.Errorf("unknown option %s", arg.Key)
	}
	return err
}
