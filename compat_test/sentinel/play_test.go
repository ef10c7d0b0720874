package sentinel

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/lockredis/lockredis/compat_test/wire"
	"github.com/lockredis/lockredis/internal/redistest"
	"github.com/lockredis/lockredis/resp"
)

// patience is how long a scenario waits for an event or a reply.
const patience = 40 * time.Second

// player plays one scenario.
type player struct {
	t    *testing.T
	w    world
	dir  string
	self string // port of the Sentinel
	id   string // of the Sentinel

	password string // of the Sentinel, "": none
	fakes    map[string]*fake
	stop     func()
	conns    map[string]*wire.Conn // by RESP version and purpose
	inputs   []string              // pairs for a strings.Replacer: from the file to the world
}

func newPlayer(t *testing.T, w world, dir string) *player {
	return &player{t: t, w: w, dir: dir, self: w.port(),
		fakes: map[string]*fake{}, conns: map[string]*wire.Conn{}}
}

// close ends everything that the scenario has started.
func (p *player) close() {
	for _, c := range p.conns {
		c.Close()
	}
	if p.stop != nil {
		p.stop()
	}
	for _, f := range p.fakes {
		if f.mode != "down" {
			f.closeAll()
		}
	}
}

// toWorld replaces names in a scenario's text by what they are in this world. Three letters
// stand for the id of a fake Sentinel: {ccc} is 40 c.
func (p *player) toWorld(text string) string {
	pairs := append(slices.Clone(p.inputs), "{id}", p.id, "{self}", p.self)
	for _, c := range "cde" {
		pairs = append(pairs, "{"+strings.Repeat(string(c), 3)+"}", strings.Repeat(string(c), 40))
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// toFile does the opposite.
func (p *player) toFile(text string) string {
	var pairs []string
	for i := 0; i < len(p.inputs); i += 2 {
		pairs = append(pairs, p.inputs[i+1], p.inputs[i])
	}
	if p.id != "" {
		pairs = append(pairs, p.id, "{id}", p.id[:8], "{id8}")
	}
	for _, c := range "cde" {
		pairs = append(pairs, strings.Repeat(string(c), 40), "{"+strings.Repeat(string(c), 3)+"}")
	}
	if p.self != "" {
		pairs = append(pairs, p.self, "{self}")
	}
	return strings.NewReplacer(append(pairs, p.dir, "{dir}")...).Replace(text)
}

// run carries out one directive and returns its output.
func (p *player) run(d *datadriven.TestData) (string, error) {
	p.w.settle()
	input := p.toWorld(d.Input)
	switch d.Cmd {
	case "fake":
		return "", p.fake(d)
	case "start":
		return "", p.start(input)
	case "refuse":
		return p.toFile(p.w.refusal(writeConf(p.t, p.dir, p.w.port(), input))) + "\n", nil
	case "do":
		return p.do(d, input)
	case "until":
		return "", p.until(argument(d, "has"), input)
	case "listen":
		_, err := p.conn("events", 2)
		return "", err
	case "events":
		return p.events(argument(d, "until"), argument(d, "skip"))
	case "quiet":
		return p.quiet(argument(d, "for"), d.HasArg("sorted"))
	case "mode":
		return "", p.fakes[argument(d, "of")].set(argument(d, "is"))
	case "answer":
		return "", p.answer(d, input)
	case "info":
		return "", p.info(argument(d, "of"), input)
	case "hello":
		return "", p.hello(argument(d, "on"), input)
	case "seen":
		return p.seen(argument(d, "of"), argument(d, "has"))
	case "conf":
		return p.conf(d.HasArg("sorted"))
	}
	return "", fmt.Errorf("unknown directive %s", d.Cmd)
}

// argument returns an option of a directive, "" if there is none.
func argument(d *datadriven.TestData, name string) string {
	for _, a := range d.CmdArgs {
		if a.Key == name && len(a.Vals) > 0 {
			return strings.Join(a.Vals, " ")
		}
	}
	return ""
}

// fake starts the fakes that the options name.
func (p *player) fake(d *datadriven.TestData) error {
	for _, a := range d.CmdArgs {
		port := p.w.port()
		f, err := newFake(p.w, a.Key, "127.0.0.1:"+port)
		if err != nil {
			return err
		}
		p.fakes[a.Key] = f
		p.inputs = append(p.inputs, "{"+a.Key+"}", port)
	}
	return nil
}

// start starts the Sentinel.
func (p *player) start(conf string) error {
	path := writeConf(p.t, p.dir, p.self, conf)
	p.password = passwordIn(conf)
	stop, err := p.w.start(path, p.self)
	if err != nil {
		return err
	}
	p.stop = stop
	c, err := p.conn("control", 2)
	if err != nil {
		return err
	}
	id, err := c.Do("SENTINEL", "MYID")
	p.id = string(id.Str)
	return err
}

// passwordIn returns the value of requirepass in a configuration.
func passwordIn(conf string) string {
	for line := range strings.Lines(conf) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), "requirepass "); ok {
			return value
		}
	}
	return ""
}

// conn returns the connection of that name.
func (p *player) conn(name string, proto int) (*wire.Conn, error) {
	if c := p.conns[name]; c != nil {
		return c, nil
	}
	nc, err := p.w.dial(p.self)
	if err != nil {
		return nil, err
	}
	c := wire.NewConn(nc)
	c.SetTimeout(patience)
	p.conns[name] = c
	if p.password != "" && name != "new" {
		_, err = c.Do("AUTH", p.password)
	}
	if proto == 3 {
		_, err = c.Do("HELLO", "3")
	}
	if name == "events" {
		_, err = c.Do("PSUBSCRIBE", "*")
	}
	return c, err
}

// do sends commands, one a line, and returns the replies. "resp=3" speaks RESP3, "conn=x" uses
// another connection.
func (p *player) do(d *datadriven.TestData, input string) (string, error) {
	name, proto := "main", 2
	if argument(d, "resp") == "3" {
		name, proto = "resp3", 3
	}
	if other := argument(d, "conn"); other != "" {
		name = other
	}
	c, err := p.conn(name, proto)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	for line := range strings.Lines(input) {
		words, ok := resp.SplitLine([]byte(strings.TrimSpace(line)))
		if !ok || len(words) == 0 {
			return "", fmt.Errorf("malformed line %q", line)
		}
		args := make([]string, len(words))
		for i, w := range words {
			args[i] = string(w)
		}
		v, err := c.Do(args...)
		if err != nil {
			return "", fmt.Errorf("%s: %w", line, err)
		}
		mask(&v)
		out.WriteString(p.toFile(v.Pretty(100)) + "\n")
	}
	return out.String(), nil
}

// times are the fields whose values are times and counts that differ from run to run.
var times = strings.Fields("last-ping-sent last-ok-ping-reply last-ping-reply info-refresh " +
	"role-reported-time s-down-time o-down-time last-hello-message link-pending-commands")

// mask hides the values of times.
func mask(v *wire.Value) {
	for i := range v.Elems {
		if i%2 == 1 && slices.Contains(times, string(v.Elems[i-1].Str)) {
			v.Elems[i].Str = []byte("<n>")
			continue
		}
		mask(&v.Elems[i])
	}
}

// until repeats a command until its reply has a text. "!text" waits until it has it no more.
func (p *player) until(has, command string) error {
	c, err := p.conn("control", 2)
	if err != nil {
		return err
	}
	text, gone := strings.CutPrefix(p.toWorld(has), "!")
	return poll(patience, func() (done bool, err error) {
		v, err := c.Do(strings.Fields(command)...)
		if err != nil {
			return true, err
		}
		if strings.Contains(v.String(), text) != gone {
			return true, nil
		}
		return false, fmt.Errorf("%s: no %q in %s", command, has, v)
	})
}

// poll calls look until it is done, and returns its error. After limit it returns the last error.
func poll(limit time.Duration, look func() (done bool, err error)) (err error) {
	redistest.Poll(limit, func() (done bool) {
		done, err = look()
		return done
	})
	return err
}

// events returns the events up to the one with that name. It leaves out the events in skip:
// the time of their arrival is chance.
func (p *player) events(until, skip string) (string, error) {
	c, err := p.conn("events", 2)
	if err != nil {
		return "", err
	}
	skipped := strings.Fields(skip)
	var out strings.Builder
	for {
		v, err := c.Receive()
		if err != nil {
			return out.String(), fmt.Errorf("waiting for %s, after %q: %w", until, out.String(), err)
		}
		name := string(v.Elems[2].Str)
		if !slices.Contains(skipped, name) {
			out.WriteString(p.toFile(name+" "+string(v.Elems[3].Str)) + "\n")
		}
		if name == until {
			return out.String(), nil
		}
	}
}

// quiet returns the events of a time: none, in most scenarios. sorted hides their order.
func (p *player) quiet(period string, sorted bool) (string, error) {
	d, err := time.ParseDuration(period)
	if err != nil {
		return "", err
	}
	c, err := p.conn("events", 2)
	if err != nil {
		return "", err
	}
	var out []string
	for end := time.Now().Add(d); ; {
		v, err := c.ReceiveWithin(max(time.Until(end), time.Millisecond))
		if err != nil {
			break
		}
		out = append(out, p.toFile(string(v.Elems[2].Str)+" "+string(v.Elems[3].Str))+"\n")
	}
	if sorted {
		slices.Sort(out)
	}
	return strings.Join(out, ""), nil
}

// answer makes a fake answer a command of two words with an encoded reply.
func (p *player) answer(d *datadriven.TestData, input string) error {
	f := p.fakes[argument(d, "of")]
	f.mu.Lock()
	defer f.mu.Unlock()
	f.replies[argument(d, "to")] = strings.ReplaceAll(strings.TrimSpace(input), "\n", "\r\n") + "\r\n"
	return nil
}

// info makes a fake answer INFO with lines of the section Replication. A line "run_id:x" is the
// letter of its run id instead.
func (p *player) info(of, input string) error {
	f := p.fakes[of]
	f.mu.Lock()
	defer f.mu.Unlock()
	f.replication = strings.TrimSpace(input)
	if first, rest, _ := strings.Cut(f.replication, "\n"); strings.HasPrefix(first, "run_id:") {
		f.runID, f.replication = strings.Repeat(first[len("run_id:"):], 40), rest
	}
	return nil
}

// hello publishes a hello on a fake primary's channel, or sends it to the Sentinel itself.
func (p *player) hello(on, text string) error {
	if f := p.fakes[on]; f != nil {
		return f.publishWhenHeard(strings.TrimSpace(text))
	}
	c, err := p.conn("control", 2)
	if err != nil {
		return err
	}
	_, err = c.Do("PUBLISH", "__sentinel__:hello", strings.TrimSpace(text))
	return err
}

// seen returns the different commands that a fake has got, for each kind of connection. It waits
// until one of them has the text.
func (p *player) seen(name, has string) (text string, err error) {
	f := p.fakes[name]
	err = poll(patience, func() (done bool, err error) {
		if text = p.toFile(f.log()); strings.Contains(text, has) {
			return true, nil
		}
		return false, fmt.Errorf("no %q in %s", has, text)
	})
	return text, err
}

// conf returns the sentinel lines of the configuration file. sorted hides their order.
func (p *player) conf(sorted bool) (string, error) {
	text, err := os.ReadFile(p.dir + "/sentinel.conf")
	var out []string
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "sentinel ") || strings.HasPrefix(line, "#") {
			out = append(out, p.toFile(line))
		}
	}
	if sorted {
		slices.Sort(out)
	}
	return strings.Join(out, ""), err
}
