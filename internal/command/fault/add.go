package fault

import (
	"math"
	"strings"
	"time"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/fault"
	"github.com/lockredis/lockredis/resp"
)

// longestText is the most bytes of a pattern or a text. A pattern is matched with the keys of each
// request.
const longestText = 4096

var (
	errScript = resp.Error("ERR SCRIPT needs a SHA1 of 40 hexadecimal digits, or CONTAINS and a text")
	errLine   = resp.Error("ERR ERROR must be one line")
)

// adding is a FAULT.ADD that is parsed.
type adding struct {
	command.Fault
	c    *command.Ctx
	kind fault.Kind
	rest resp.Args // not parsed yet
}

// option is an option of FAULT.ADD. fits says which kinds have it. parse takes its value, which is
// a.rest[0].
type option struct {
	name  string
	fits  func(fault.Kind) bool
	parse func(a *adding, value string) (failure resp.Reply)
}

var options = []option{
	{"COMMAND", ofRequests, (*adding).parseCommand},
	{"KEY", ofRequests, func(a *adding, v string) resp.Reply { a.Key = v; return resp.NoReply }},
	{"CLIENT", ofAll, func(a *adding, v string) resp.Reply { a.Client = v; return resp.NoReply }},
	{"SCRIPT", ofRequests, (*adding).parseScript},
	{"CHANNEL", ofMessages, func(a *adding, v string) resp.Reply { a.Channel = v; return resp.NoReply }},
	{"NTH", ofAll, func(a *adding, v string) (failure resp.Reply) { a.Nth, failure = count(v); return failure }},
	{"TIMES", ofAll, (*adding).parseTimes},
	{"FOR", fault.Kind.Delays, (*adding).parseFor},
	{"ERROR", func(k fault.Kind) bool { return k == fault.FailRequest }, (*adding).parseError},
}

func ofAll(fault.Kind) bool        { return true }
func ofRequests(k fault.Kind) bool { return k.Phase() != fault.OnMessage }
func ofMessages(k fault.Kind) bool { return k.Phase() == fault.OnMessage }

// faultAdd runs FAULT.ADD kind [option value …].
func faultAdd(c *command.Ctx, args resp.Args) resp.Reply {
	kind, ok := fault.KindNamed(args.String(1))
	if !ok {
		return resp.Errorf("ERR unknown fault '%.128s'. Try FAULT HELP.", args.String(1))
	}
	a := &adding{c: c, kind: kind, rest: args[2:], Fault: command.Fault{Kind: kind.String(), Nth: 1, Times: 1}}
	seen := map[string]bool{}
	for len(a.rest) > 0 {
		if failure := a.parse(seen); failure.IsError() {
			return failure
		}
	}
	switch {
	case kind == fault.Stop && a.For == 0:
		return resp.Error("ERR stop needs FOR")
	case kind == fault.FailRequest && a.Error == "":
		return resp.Error("ERR fail-request needs ERROR")
	}
	return resp.Int(c.Faults().SetFault(a.Fault))
}

// parse parses the next option.
func (a *adding) parse(seen map[string]bool) (failure resp.Reply) {
	for i := range options {
		o := &options[i]
		if !command.IsWord(a.rest[0], strings.ToLower(o.name)) {
			continue
		}
		switch {
		case seen[o.name]:
			return resp.Errorf("ERR %s is given twice", o.name)
		case !o.fits(a.kind):
			return resp.Errorf("ERR %s is not for %s", o.name, a.kind)
		case len(a.rest) == 1 || len(a.rest[1]) == 0:
			return resp.ErrSyntax
		case len(a.rest[1]) > longestText:
			return tooLong(o.name)
		}
		seen[o.name] = true
		value := a.rest.String(1)
		a.rest = a.rest[2:]
		return o.parse(a, value)
	}
	return resp.ErrSyntax
}

func tooLong(name string) resp.Reply {
	return resp.Errorf("ERR %s is longer than %d bytes", name, longestText)
}

// parseCommand wants a command of the table, so that a fault with a misspelt name is not set.
func (a *adding) parseCommand(name string) resp.Reply {
	a.Command = strings.ReplaceAll(strings.ToLower(name), " ", "|")
	var words resp.Args
	for word := range strings.SplitSeq(a.Command, "|") {
		words = append(words, []byte(word))
	}
	switch cmd := a.c.Table.FindHidden(words); {
	case cmd == nil || cmd.Name != a.Command:
		return resp.Errorf("ERR unknown command '%.128s'", name)
	case cmd.Has(command.Own):
		return resp.Errorf("ERR no fault hits '%s'", cmd.Name)
	}
	return resp.NoReply
}

func (a *adding) parseScript(sha string) resp.Reply {
	if !command.IsWord([]byte(sha), "contains") {
		a.SHA = strings.ToLower(sha)
		if len(sha) != 40 || strings.Trim(a.SHA, "0123456789abcdef") != "" {
			return errScript
		}
		return resp.NoReply
	}
	switch {
	case len(a.rest) == 0 || len(a.rest[0]) == 0:
		return resp.ErrSyntax
	case len(a.rest[0]) > longestText:
		return tooLong("CONTAINS")
	}
	a.Source, a.rest = a.rest.String(0), a.rest[1:]
	return resp.NoReply
}

func (a *adding) parseTimes(n string) (failure resp.Reply) {
	if command.IsWord([]byte(n), "always") {
		a.Times = fault.Always
		return resp.NoReply
	}
	a.Times, failure = count(n)
	return failure
}

func (a *adding) parseFor(millis string) resp.Reply {
	n, failure := command.ParseAtLeast([]byte(millis), 1)
	switch {
	case failure.IsError():
		return failure
	case n > math.MaxInt64/int64(time.Millisecond):
		return resp.ErrNotInt
	}
	a.For = time.Duration(n) * time.Millisecond
	return resp.NoReply
}

func (a *adding) parseError(text string) resp.Reply {
	if strings.ContainsAny(text, "\r\n") {
		return errLine
	}
	a.Error = text
	return resp.NoReply
}

// count parses a number of requests or messages.
func count(arg string) (n int, failure resp.Reply) {
	long, failure := command.ParseAtLeast([]byte(arg), 1)
	if long > math.MaxInt {
		return 0, resp.ErrNotInt
	}
	return int(long), failure
}
