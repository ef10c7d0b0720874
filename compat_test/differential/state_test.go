package differential

import (
	"slices"
	"strconv"
	"strings"

	"github.com/lockredis/lockredis/compat_test/wire"
)

// databases is how many databases sequences use, counted from 0.
const databases = 3

// compareEvents compares the messages that the subscribers received since the last
// sequence.
func (r *run) compareEvents() (*difference, error) {
	var oracle, target []string
	d, err := r.both("reading events", func(s *server) error {
		got, err := s.readEvents(r.end)
		if s == r.target {
			target = got
		} else {
			oracle = got
		}
		return err
	})
	if d != nil || err != nil {
		return d, err
	}
	d = r.compareMessages(oracle, target)
	if d == nil || !slices.ContainsFunc(r.seq.steps, func(st step) bool {
		return st.kind == stepOther || st.kind == stepFields
	}) {
		return d, nil
	}
	// An invalidation that another client causes comes before its events or between them.
	for _, invalidations := range []bool{true, false} {
		chosen := func(m string) bool { return isInvalidation(m) != invalidations }
		d = r.compareMessages(slices.DeleteFunc(slices.Clone(oracle), chosen),
			slices.DeleteFunc(slices.Clone(target), chosen))
		if d != nil {
			return d, nil
		}
	}
	return nil, nil
}

// compareMessages compares messages in order.
func (r *run) compareMessages(oracle, target []string) *difference {
	for i := range max(len(oracle), len(target)) {
		a, b := at(oracle, i), at(target, i)
		if a != b {
			return &difference{what: "events, number " + decimal(i+1) + " (after " + at(oracle, i-1) + ")",
				name: "event " + eventName(a), oracle: a, target: b,
				// An EXPIRE that comes a little late deletes the key at once.
				timing: eventName(a) != eventName(b)}
		}
	}
	return nil
}

// isInvalidation reports whether a message is an invalidation that a client redirects.
func isInvalidation(message string) bool {
	return strings.HasPrefix(message, `>["invalidate"`) || strings.Contains(message, "__redis__:invalidate")
}

// comparePushes compares the invalidations of the connections that track keys.
func (r *run) comparePushes() *difference {
	oracle, target := r.oracle.pushes, r.pair.target.pushes
	r.report.pushes += len(oracle)
	for i := range max(len(oracle), len(target)) {
		if a, b := at(oracle, i), at(target, i); a != b {
			return &difference{what: "invalidation number " + decimal(i+1) + " (after " +
				at(oracle, i-1) + ")", name: "invalidation", oracle: a, target: b,
				// A key that expires during a wait may do so before or after its end.
				timing: slices.ContainsFunc(r.seq.steps, func(st step) bool { return st.kind.lapses() })}
		}
	}
	return nil
}

func at(list []string, i int) string {
	if i < 0 || i >= len(list) {
		return "(none)"
	}
	return list[i]
}

// eventName returns the last word of a keyspace event, its name, for grouping.
func eventName(message string) string {
	if !strings.Contains(message, "__key") {
		return "message"
	}
	words := strings.Fields(strings.Trim(message, "]\""))
	return strings.Trim(words[len(words)-1], "\"")
}

// readEvents reads from both subscribers up to the message that ends the sequence.
func (s *server) readEvents(end string) ([]string, error) {
	var got []string
	for _, c := range []*wire.Conn{s.events, s.crowd} {
		for {
			v, err := c.Receive()
			if err != nil {
				return got, err
			}
			if n := len(v.Elems); n > 0 && string(v.Elems[n-1].Str) == end {
				break
			}
			got = append(got, v.String())
		}
	}
	return got, nil
}

// subject is one key in the comparison of states.
type subject struct {
	db   int
	name string
}

// compareState compares every key: type, encoding, deadline and value.
func (r *run) compareState() (*difference, error) {
	subjects := r.subjects()
	var first [][]string
	db := -1
	choose := func(cmds [][]string, s subject) [][]string {
		if s.db != db {
			cmds = append(cmds, []string{"SELECT", decimal(s.db)})
		}
		db = s.db
		return cmds
	}
	for _, s := range subjects {
		first = append(choose(first, s), []string{"TYPE", s.name},
			[]string{"OBJECT", "ENCODING", s.name}, []string{"PEXPIRETIME", s.name})
		first = append(first, r.seq.accesses(s.name)...)
	}
	replies, d, err := r.ask(first)
	if d != nil || err != nil {
		return d, err
	}
	db = -1
	var second [][]string
	var encodings []wire.Value
	for i, n := 0, 0; i < len(first); i++ {
		if first[i][0] != "TYPE" {
			continue
		}
		before := len(second)
		second = append(choose(second, subjects[n]), r.readers(string(replies[i].Str), subjects[n].name)...)
		for range len(second) - before {
			encodings = append(encodings, replies[i+1])
		}
		n++
	}
	if d, err := r.askValues(second, encodings); d != nil || err != nil {
		return d, err
	}
	if r.valkey { // DEBUG DIGEST of a whole Valkey is not Redis's
		return nil, nil
	}
	return r.compareDigests()
}

// compareDigests compares the digests of the servers' whole data. It finds what the other
// comparisons do not name, such as a key in a database that sequences do not use.
func (r *run) compareDigests() (*difference, error) {
	_, d, err := r.ask([][]string{{"DEBUG", "DIGEST"}})
	if d != nil {
		d.timing = true // a key that expires between the two answers
	}
	if d != nil || err != nil {
		return d, err
	}
	return r.compareChanges()
}

// compareChanges compares how many changes the servers have counted for save points since they
// were asked last.
func (r *run) compareChanges() (*difference, error) {
	d, err := r.both("reading INFO", func(s *server) error {
		got, err := exchange(s.conn, [][]string{{"INFO", "persistence"}})
		if err != nil {
			return err
		}
		_, rest, _ := strings.Cut(string(got[0].Str), "rdb_changes_since_last_save:")
		number, _, _ := strings.Cut(rest, "\r")
		n, err := strconv.Atoi(number)
		s.changed, s.changes = n-s.changes, n
		return err
	})
	if a, b := r.oracle.changed, r.pair.target.changed; d == nil && err == nil && a != b {
		return &difference{what: "number of changes", name: "changes", oracle: decimal(a), target: decimal(b)}, nil
	}
	return d, err
}

// subjects lists the keys of all databases of redis-server.
func (r *run) subjects() []subject {
	var all []subject
	listings := r.oracles[len(r.oracles)-2*databases:]
	for db := range databases {
		var names []string
		for _, e := range listings[2*db+1].Elems {
			names = append(names, string(e.Str))
		}
		slices.Sort(names)
		for _, n := range names {
			all = append(all, subject{db, n})
		}
	}
	return all
}

// readers returns the commands that read the whole value of a key.
func (r *run) readers(kind, name string) [][]string {
	switch {
	case r.valkey && kind == "hash":
		return [][]string{reader(kind, name), {"EVAL", deadlinesScript, "1", name}}
	case r.valkey && kind == "stream": // XINFO has more fields
		return [][]string{{"XRANGE", name, "-", "+"}}
	case !r.valkey && kind == "list": // DUMP shows the nodes
		return [][]string{reader(kind, name), {"DUMP", name}}
	}
	return [][]string{reader(kind, name)}
}

func reader(kind, name string) []string {
	switch kind {
	case "string":
		return []string{"GET", name}
	case "hash":
		return []string{"HGETALL", name}
	case "list":
		return []string{"LRANGE", name, "0", "-1"}
	case "set":
		return []string{"SMEMBERS", name}
	case "stream":
		return []string{"XINFO", "STREAM", name, "FULL", "COUNT", "0"}
	case "zset":
		return []string{"ZRANGE", name, "0", "-1", "WITHSCORES"}
	}
	return []string{"EXISTS", name}
}

// ask sends commands to both servers and compares the replies.
func (r *run) ask(cmds [][]string) ([]wire.Value, *difference, error) {
	a, b, d, err := r.exchangeBoth(cmds)
	if d != nil || err != nil {
		return nil, d, err
	}
	for i := range cmds {
		e := emission{args: cmds[i], valkey: r.valkey}
		if !e.same(comparison{args: cmds[i], oracle: a[i], target: b[i], lateness: int64(r.attempt)}) {
			return nil, r.stateDifference(cmds, i, a[i], b[i]), nil
		}
	}
	return a, nil, nil
}

// askValues compares the values. The encoding says whether the order counts.
func (r *run) askValues(cmds [][]string, encodings []wire.Value) (*difference, error) {
	a, b, d, err := r.exchangeBoth(cmds)
	if d != nil || err != nil {
		return d, err
	}
	for i := range cmds {
		e := emission{args: cmds[i], valkey: r.valkey}
		if !e.same(comparison{args: cmds[i], oracle: a[i], target: b[i], lateness: int64(r.attempt), probes: encodings[i : i+1]}) {
			return r.stateDifference(cmds, i, a[i], b[i]), nil
		}
	}
	return nil, nil
}

func (r *run) exchangeBoth(cmds [][]string) (a, b []wire.Value, d *difference, err error) {
	d, err = r.both("comparing the state", func(s *server) error {
		got, err := exchange(s.conn, cmds)
		if s == r.target {
			b = got
		} else {
			a = got
		}
		return err
	})
	return a, b, d, err
}

// stateDifference adds the database to the difference, because the command does not name
// it.
func (r *run) stateDifference(cmds [][]string, i int, a, b wire.Value) *difference {
	db := "0"
	for _, c := range cmds[:i] {
		if c[0] == "SELECT" {
			db = c[1]
		}
	}
	late := comparison{args: cmds[i], oracle: a, target: b, lateness: r.latest()}
	return &difference{
		what: "state at the end, database " + db + ": " + cliLine(cmds[i]), name: "state " + cmds[i][0],
		oracle: a.String(), target: b.String(), timing: emission{valkey: r.valkey}.same(late),
	}
}
