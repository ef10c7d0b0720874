package differential

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockredis/lockredis/compat_test/stream"
	"github.com/lockredis/lockredis/compat_test/wire"
)

// replyTimeout is how long a server may take for the commands of one sequence.
const replyTimeout = 20 * time.Second

// server is one of the two servers, with the connections that a sequence uses.
type server struct {
	name, addr string
	conn       *wire.Conn
	other      *wire.Conn
	events     *wire.Conn
	crowd      *wire.Conn
	poll       *wire.Conn // asks whether fields have expired
	limits     string
	pushes     []string    // the invalidations of this sequence
	id         int64       // of the connection opened last
	single     bool        // see mode
	from, to   time.Time   // the begin and the end of this sequence
	told       *stream.Log // nil: the streams are not compared
	changes    int         // rdb_changes_since_last_save after this sequence
	changed    int         // by how much the last sequence has raised it
}

// pair runs sequences on both servers. Only one goroutine uses it.
type pair struct {
	oracle, target *server
	report         *coverage
	runs           int
	attempt        int  // how often the current sequence has been run before
	cluster        bool // the servers are cluster nodes
	valkey         bool // the oracle is Valkey, and lockredis emulates it
	// crowdID and eventsID are the ids of the subscribers, on both servers.
	crowdID, eventsID int64
}

// difference is the first reply, event or value in which the servers differ.
type difference struct {
	// what is the command in redis-cli form, or the other place where the difference
	// appeared.
	what           string
	name           string
	oracle, target string
	timing         bool
}

func (d *difference) String() string {
	return fmt.Sprintf("difference at: %s\n  the oracle: %s\n  lockredis:  %s", d.what, d.oracle, d.target)
}

// cause groups differences of one kind.
func (d *difference) cause() string {
	class := func(s string) string {
		if strings.HasPrefix(s, "-") {
			return s[:min(len(s), 24)]
		}
		return s[:min(len(s), 1)]
	}
	return d.name + " " + class(d.oracle) + " | " + class(d.target)
}

func newPair(oracle, target string) *pair {
	return &pair{oracle: &server{name: "redis-server", addr: oracle},
		target: &server{name: "lockredis", addr: target}, report: newCoverage(grammar())}
}

func (p *pair) close() {
	p.oracle.hangUp()
	p.target.hangUp()
}

func (s *server) hangUp() {
	for _, c := range []**wire.Conn{&s.conn, &s.other, &s.events, &s.crowd, &s.poll} {
		if *c != nil {
			(*c).Close()
			*c = nil
		}
	}
	s.limits = ""
}

// connect opens the connections, unless they are open: the main connection, a second client, and
// the subscribers.
func (p *pair) connect() (*difference, error) {
	if p.oracle.conn != nil {
		return nil, nil
	}
	d, err := p.both("connecting", func(s *server) error {
		for _, c := range []**wire.Conn{&s.conn, &s.other, &s.poll} {
			if err := s.open(c); err != nil {
				return err
			}
		}
		return s.hidePoll(p.valkey)
	})
	if d != nil || err != nil {
		return d, err
	}
	return p.listen()
}

// exchange sends all commands in one write and reads a reply for each.
func exchange(c *wire.Conn, cmds [][]string) ([]wire.Value, error) {
	return exchangePushes(c, cmds, nil)
}

// exchangePushes is exchange for a connection that may track keys. It passes each
// invalidation to push, with the number of the command whose reply it precedes.
func exchangePushes(c *wire.Conn, cmds [][]string, push func(at int, v wire.Value)) (
	[]wire.Value, error,
) {
	var out []byte
	for _, args := range cmds {
		out = wire.AppendCommand(out, args...)
	}
	sent := make(chan error, 1)
	if len(out) < 32<<10 {
		sent <- c.WriteRaw(out)
	} else {
		go func() { sent <- c.WriteRaw(out) }()
	}
	replies := make([]wire.Value, 0, len(cmds))
	for i := range cmds {
		v, err := receive(c, func(v wire.Value) {
			if push != nil {
				push(i, v)
			}
		})
		if err != nil {
			return replies, err
		}
		replies = append(replies, v)
	}
	return replies, <-sent
}

// receive reads a reply. It passes the invalidations that come before the reply to push.
func receive(c *wire.Conn, push func(wire.Value)) (wire.Value, error) {
	for {
		v, err := c.Receive()
		if err != nil || v.Kind != wire.Push || len(v.Elems) != 2 ||
			string(v.Elems[0].Str) != "invalidate" {
			return v, err
		}
		push(v)
	}
}

// both runs the same function for the two servers at the same time. An error of lockredis
// becomes a difference. An error of redis-server ends the test.
func (p *pair) both(what string, f func(s *server) error) (*difference, error) {
	done := make(chan error, 1)
	go func() { done <- f(p.target) }()
	err := f(p.oracle)
	targetErr := <-done
	if err != nil {
		return nil, fmt.Errorf("%s, %s: %w", p.oracle.name, what, err)
	}
	if targetErr != nil {
		return &difference{what: what, name: what, oracle: "replied", target: "-" + targetErr.Error()},
			nil
	}
	return nil, nil
}

// run sends the sequence to both servers. It repeats a sequence whose times differ. When the
// servers needed so much time for it, each time, that this explains the difference, then it does
// not count.
func (p *pair) run(s sequence) (*difference, error) {
	var d *difference
	var err error
	slow := 0
	for p.attempt = range triesForTime {
		d, err = p.runOnce(s)
		if err != nil || d != nil {
			p.close()
		}
		if d == nil || !d.timing {
			break
		}
		if p.took().Milliseconds() > clockSlack {
			slow++
		}
		if slow == triesWhenSlow {
			p.report.slow++
			return nil, nil
		}
	}
	return d, err
}

// latest is how far two times may differ at most because of the servers' slowness, in
// milliseconds: one of two times is the difference of others.
func (p *pair) latest() int64 { return int64(p.attempt) + 2*p.took().Milliseconds() }

// took returns the time between the first command of the last sequence, and the last reply.
func (p *pair) took() time.Duration {
	from, to := p.oracle.from, p.oracle.to
	if p.target.from.Before(from) {
		from = p.target.from
	}
	if p.target.to.After(to) {
		to = p.target.to
	}
	return to.Sub(from)
}

// runOnce is one attempt of run.
func (p *pair) runOnce(s sequence) (*difference, error) {
	p.runs++
	r := &run{pair: p, seq: s, end: fmt.Sprintf("end-%d", p.runs)}
	if d, err := p.connect(); d != nil || err != nil {
		return d, err
	}
	r.collect()
	if d, err := r.send(); d != nil || err != nil {
		return d, err
	}
	if d := r.compare(); d != nil {
		return d, nil
	}
	if d, err := r.compareSlowlog(); d != nil || err != nil {
		return d, err
	}
	if d := r.comparePushes(); d != nil {
		return d, nil
	}
	if d, err := r.compareEvents(); d != nil || err != nil {
		return d, err
	}
	if d, err := r.compareStreams(); d != nil || err != nil {
		return d, err
	}
	return r.compareState()
}

// run is the state of one sequence that is being sent.
type run struct {
	*pair
	seq       sequence
	end       string
	emissions []emission
	oracles   []wire.Value
	targets   []wire.Value
}

// collect lists everything to send, from emptying the servers to listing all keys.
func (r *run) collect() {
	for _, args := range r.seq.prefix() {
		r.emissions = append(r.emissions, emission{args: args, role: roleSilent})
	}
	place := 0
	for _, st := range r.seq.steps {
		r.emissions = append(r.emissions, st.emit(&place, r.seq.exceptionOf)...)
	}
	// A channel that both subscribers receive.
	r.emissions = append(r.emissions, emission{args: []string{"PUBLISH", "n-end", r.end},
		role: roleGlue})
	for db := range databases {
		r.emissions = append(r.emissions, emission{args: []string{"SELECT", decimal(db)},
			role: roleGlue}, emission{args: []string{"KEYS", "*"}, role: roleProbe})
	}
	for i := range r.emissions {
		e := &r.emissions[i]
		e.valkey = r.valkey
		if e.args = r.named(e.args); r.cluster {
			e.args = inOneSlot(e.args)
		}
	}
}

// inOneSlot gives the keys of each type from 0 to 2 a common hash tag, so that many
// commands have all their keys in one slot. The other keys are in slots of their own.
func inOneSlot(args []string) []string {
	tagged := slices.Clone(args)
	for i, a := range args {
		if len(a) == 2 && slices.Contains(typeLetters, a[:1]) && a[1] >= '0' && a[1] <= '2' {
			tagged[i] = "{x}" + a
		}
	}
	return tagged
}

// send sends the emissions to both servers, in one write unless a command needs the reply
// to an earlier one.
func (r *run) send() (*difference, error) {
	r.oracles = make([]wire.Value, len(r.emissions))
	r.targets = make([]wire.Value, len(r.emissions))
	here, there := make(chan struct{}, len(r.emissions)), make(chan struct{}, len(r.emissions))
	return r.both("the sequence", func(s *server) error {
		into := r.oracles
		if s == r.target {
			into = r.targets
		}
		if err := s.prepare(r.seq); err != nil {
			return err
		}
		s.pushes = nil
		s.from = time.Now()
		defer func() { s.to = time.Now() }()
		if s == r.target {
			return s.play(r.emissions, into, meeting{mine: there, theirs: here})
		}
		return s.play(r.emissions, into, meeting{mine: here, theirs: there})
	})
}

// prepare sets the limits and resets the second connection, each only when the sequence
// needs it.
func (s *server) prepare(seq sequence) error {
	s.single = seq.single
	var cmds [][]string
	limits := slices.Concat(seq.limits(), seq.memory(), seq.slowlog())
	if wanted := strings.Join(limits, " "); s.limits != wanted {
		s.limits = wanted
		cmds = append(cmds, limits)
	}
	if slices.ContainsFunc(seq.steps, func(st step) bool { return st.kind == stepOther }) {
		cmds = append(cmds, []string{"RESET"}, []string{"HELLO", decimal(seq.resp)})
	}
	if seq.slow {
		cmds = append(cmds, []string{"SLOWLOG", "RESET"})
	}
	replies, err := exchange(s.other, cmds)
	for i, v := range replies {
		if v.IsError() && err == nil {
			err = fmt.Errorf("%s: %s", cliLine(cmds[i]), v)
		}
	}
	return err
}

// meeting lets the goroutines of the two servers wait for each other.
type meeting struct{ mine, theirs chan struct{} }

// wait returns when the other goroutine has also called wait, or has ended.
func (m meeting) wait() {
	m.mine <- struct{}{}
	<-m.theirs
}

// play sends the emissions and stores the replies at the indexes of their emissions.
func (s *server) play(emissions []emission, into []wire.Value, m meeting) error {
	defer close(m.mine)
	from := 0
	flush := func(to int) error {
		if from == to {
			return nil
		}
		var cmds [][]string
		for _, e := range emissions[from:to] {
			cmds = append(cmds, e.args)
		}
		replies, err := exchangePushes(s.conn, cmds, func(at int, v wire.Value) {
			s.invalidated(emissions[from+at], v)
		})
		copy(into[from:], replies)
		if err != nil {
			return fmt.Errorf("at %s: %w", cliLine(emissions[min(from+len(replies), to-1)].args), err)
		}
		from = to
		return nil
	}
	for i, e := range emissions {
		if e.waits && !e.other && !e.multi && e.role != roleGone {
			if err := flush(i + 1); err != nil {
				return err
			}
			m.wait()
			continue
		}
		if e.role != roleWholeRun && e.role != roleGone && !e.other {
			if s.single {
				if err := flush(i + 1); err != nil {
					return err
				}
			}
			continue
		}
		if err := flush(i); err != nil {
			return err
		}
		var err error
		switch {
		case e.other:
			into[i], err = s.do(s.other, e)
		case e.role == roleGone:
			into[i], err = s.untilGone(e)
		default:
			into[i], err = s.scanAll(e)
		}
		if err != nil {
			return fmt.Errorf("at %s: %w", cliLine(e.args), err)
		}
		from = i + 1
		if e.waits {
			m.wait()
		}
	}
	return flush(len(emissions))
}

// do sends one command and reads its reply.
func (s *server) do(c *wire.Conn, e emission) (wire.Value, error) {
	replies, err := exchangePushes(c, [][]string{e.args}, func(_ int, v wire.Value) {
		s.invalidated(e, v)
	})
	if err != nil {
		return wire.Value{}, err
	}
	return replies[0], nil
}

// invalidated notes an invalidation that came before the reply to e.
func (s *server) invalidated(e emission, v wire.Value) {
	line := e.args[0] // a scan's cursors differ
	if e.role != roleWholeRun && len(e.args) > 1 && !strings.HasSuffix(line, "SCAN") {
		line = cliLine(e.args)
	}
	s.pushes = append(s.pushes, v.String()+" before the reply to "+line)
}

// scanAll runs a scan to its end and returns all its items, sorted, each once.
func (s *server) scanAll(e emission) (wire.Value, error) {
	args := e.args
	at, group := 2, 1
	switch args[0] {
	case "SCAN":
		at = 1
	case "HSCAN", "ZSCAN":
		group = 2
	}
	call := slices.Clone(args)
	var seen []string
	for range 10_000 {
		v, err := s.do(s.conn, emission{args: call})
		if err != nil || !isScanReply(v, group) {
			return v, err
		}
		seen = append(seen, items(v.Elems[1], group)...)
		call[at] = string(v.Elems[0].Str)
		if call[at] == "0" {
			slices.Sort(seen)
			seen = slices.Compact(seen)
			return wire.Value{Kind: wire.BulkString, Raw: []byte(strings.Join(seen, "")),
				Str: []byte(strings.Join(seen, " "))}, nil
		}
	}
	return wire.Value{}, fmt.Errorf("%s does not come to an end", cliLine(args))
}

// compare compares the replies in order.
func (r *run) compare() *difference {
	for i, e := range r.emissions {
		if e.role == roleSilent {
			continue
		}
		a, b := r.oracles[i], r.targets[i]
		if e.multi {
			// Within MULTI the reply is QUEUED or an error. The command's own reply comes with
			// EXEC.
			if !bytes.Equal(a.Raw, b.Raw) {
				return r.difference(e, a, b)
			}
			if e.role == roleCommand && string(a.Str) != "QUEUED" {
				r.report.count(e.inv, a)
			}
			continue
		}
		if e.role == roleGlue && e.args[0] == "EXEC" {
			r.report.add("EXEC", a.IsError())
			if d := r.compareExec(i); d != nil {
				return d
			}
			continue
		}
		if d := r.compareOne(i, i, a, b, r.oracles, r.targets); d != nil {
			return d
		}
	}
	return nil
}

// compareOne compares the replies to emission at. The replies to its probes are before
// place in the given lists.
func (r *run) compareOne(at, place int, a, b wire.Value,
	oracles, targets []wire.Value) *difference {
	e := r.emissions[at]
	if e.role == roleCommand || e.role == roleWholeRun {
		r.report.count(e.inv, a)
	}
	from := max(place-e.probes, 0)
	c := comparison{args: e.args, oracle: a, target: b, lateness: int64(r.attempt), probes: oracles[from:place],
		targetProbes: targets[from:place]}
	if e.same(c) || r.oracle.told != nil && e.inv != nil && strings.EqualFold(e.inv.args[0], "role") {
		return nil // ROLE shows the replica that follows the stream
	}
	d := r.difference(e, a, b)
	c.lateness = r.latest()
	d.timing = d.timing && e.same(c)
	return d
}

// compareExec compares the elements of the reply to the EXEC at place.
func (r *run) compareExec(at int) *difference {
	a, b := r.oracles[at], r.targets[at]
	var queued []int
	for i := at - 1; i >= 0 && r.emissions[i].multi; i-- {
		if string(r.oracles[i].Str) == "QUEUED" {
			queued = append(queued, i)
		}
	}
	slices.Reverse(queued)
	if a.Kind != wire.Array || a.IsNil || b.Kind != a.Kind || len(a.Elems) != len(queued) ||
		len(b.Elems) != len(queued) {
		if bytes.Equal(a.Raw, b.Raw) {
			return nil
		}
		return r.difference(r.emissions[at], a, b)
	}
	for j, i := range queued {
		if d := r.compareOne(i, j, a.Elems[j], b.Elems[j], a.Elems, b.Elems); d != nil {
			d.what += "   (in EXEC)"
			return d
		}
	}
	return nil
}

func (r *run) difference(e emission, a, b wire.Value) *difference {
	d := &difference{what: cliLine(e.args), name: strings.ToUpper(e.args[0]), oracle: a.String(),
		target: b.String()}
	d.timing = e.timing
	if e.role == roleProbe {
		d.what += "   (a probe)"
	}
	if e.role == roleWholeRun {
		d.what += "   (run to its end)"
	}
	if e.inv != nil {
		d.name = e.inv.name
		x, _ := e.exceptionOf(e.inv.args)
		d.timing = x.timing
	}
	return d
}
