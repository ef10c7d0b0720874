package differential

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockredis/lockredis"
	"github.com/lockredis/lockredis/internal/backdoor"
	redis "github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/engine"
	"github.com/lockredis/lockredis/internal/journal"
	"github.com/lockredis/lockredis/internal/rdb"
	"github.com/lockredis/lockredis/store"
)

// TestEveryGeneratedCommandSaysWhatItHasChanged compares, after each command, the keys that differ
// from before with the changes in the engine's journal.
func TestEveryGeneratedCommandSaysWhatItHasChanged(t *testing.T) {
	for name, directives := range map[string][]string{"Redis": nil, "Valkey": {"emulate", "valkey-9.1"}} {
		t.Run(name, func(t *testing.T) {
			s := readSettings(t)
			w := newWitness()
			addr := startPrepared(t, w.watch, directives...)
			m := newMaker(s.only)
			if directives != nil {
				m = newMakerOf(valkeyGrammar(), valkeyBorders(), s.only)
				m.valkey = true
			}
			gen, p := m.sequences(), newPlayer(t, addr)
			for i, begin := 0, time.Now(); time.Since(begin) < s.budget/5 && !t.Failed(); i++ {
				seq := gen.Example(int(s.seed) + i)
				p.play(seq)
				if faults := w.take(); len(faults) > 0 {
					t.Errorf("seed %d:%#v\n%s", int(s.seed)+i, seq, strings.Join(faults, "\n"))
				}
			}
			w.mu.Lock()
			defer w.mu.Unlock()
			t.Logf("LOCKREDIS_DIFF_SEED=%d: %d commands, %v", s.seed, p.commands, w.events)
		})
	}
}

// TestAHandlerThatForgetsToSayAChangeIsFound takes one event after the other from what handlers
// say.
func TestAHandlerThatForgetsToSayAChangeIsFound(t *testing.T) {
	lines := [][]string{
		{"SET", "s", "a"}, {"EXPIRE", "s", "100"}, {"PERSIST", "s"}, {"GETDEL", "s"}, {"HINCRBY", "h", "f", "1"},
		{"HDEL", "h", "f"}, {"XADD", "x", "1-1", "f", "v"}, {"XGROUP", "CREATE", "x", "g", "0"},
		{"XREADGROUP", "GROUP", "g", "c", "STREAMS", "x", ">"}, {"XACK", "x", "g", "1-1"},
		{"RPUSH", "l", "a", "b"}, {"LTRIM", "l", "1", "-1"}, {"LMOVE", "l", "k", "LEFT", "LEFT"},
		{"RENAME", "k", "j"},
		{"SETRANGE", "t", "0", "a"}, {"BITFIELD", "t", "OVERFLOW", "FAIL", "SET", "i4", "40", "9"},
	}
	for _, event := range []string{"set", "persist", "del", "hincrby", "hdel,del", "xadd", "xgroup-create",
		"xgroup-createconsumer,xreadgroup", "xack", "rpush", "ltrim", "lpush", "lpop,del", "rename_from",
		"bitfield"} {
		t.Run(event, func(t *testing.T) {
			w := newWitness(strings.Split(event, ",")...)
			p := newPlayer(t, startPrepared(t, w.watch))
			for _, line := range lines {
				p.send(p.conns[0], line)
			}
			if len(w.take()) == 0 {
				t.Error("no difference is found")
			}
		})
	}
}

// idle are the events of changes that may leave the key as it was: the same value was stored
// again, an element came back to its place, or a counter is not in the key's digest.
var idle = map[string]bool{
	"set": true, "hset": true, "lset": true, "setrange": true, "expire": true, "hexpire": true,
	"setbit of bitfield": true, // it may set a field and set it back

	"append": true, "incrby": true, "incrbyfloat": true, "hincrby": true, "hincrbyfloat": true,
	"restore": true, "copy_to": true, "rename_to": true, "ltrim": true, "lpush": true, "rpush": true, "lpop": true, "rpop": true,
	"pfadd": true, "sortstore": true, "xsetid": true, "xgroup-setid": true, "xreadgroup": true, "xclaim": true,
	"sinterstore": true, "sunionstore": true, "sdiffstore": true, "zinterstore": true, "zunionstore": true,
	"zdiffstore": true, "zrangestore": true, "geosearchstore": true, "georadiusstore": true,
}

type keyName struct {
	db  int
	key string
}

// witness reads the journal of a server, and compares it with the keys after each command.
type witness struct {
	forgets []string // events that handlers forget

	mu     sync.Mutex // guards the fields below: the timer runs beside the test
	space  *store.Space
	seen   map[keyName]string   // what the keys were after the last command
	said   map[keyName][]string // since then: the events of each key
	events map[string]int       // how often each event was said
	all    bool                 // databases were exchanged
	faults []string
}

func newWitness(forgets ...string) *witness {
	return &witness{
		forgets: forgets, seen: map[keyName]string{}, said: map[keyName][]string{}, events: map[string]int{},
	}
}

// watch has the witness read the journal of srv.
func (w *witness) watch(srv *lockredis.Server) {
	backdoor.Open(srv).Engine.(*engine.Engine).ReadJournal(w.read)
}

// forgetful are the changes of handlers that forget some.
type forgetful struct {
	redis.Changes
	events []string
}

func (f forgetful) Changed(ch *redis.Change) {
	if !slices.Contains(f.events, ch.Event) {
		f.Changes.Changed(ch)
	}
}

// take returns the differences, and forgets them.
func (w *witness) take() (faults []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	faults, w.faults = w.faults, nil
	return faults
}

func (w *witness) read(entry *journal.Entry) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch entry.Kind {
	case journal.CommandBegins:
		if w.space = entry.Ctx.Space; w.forgets != nil {
			if _, is := entry.Ctx.Changes.(forgetful); !is {
				entry.Ctx.Changes = forgetful{entry.Ctx.Changes, w.forgets}
			}
		}
		w.compare("the unit, before " + lineOf(entry) + ",")
	case journal.CommandEnds:
		w.compare(lineOf(entry))
	case journal.UnitEnds:
		w.compare("the unit")
	case journal.Changed:
		ch := entry.Change
		if ch.Class == 0 {
			return // it is not about a key
		}
		event := ch.Event
		if event == "setbit" && entry.Cause.Ctx.Cmd.Name == "bitfield" {
			event = "setbit of bitfield"
		}
		w.say(ch.DB, ch.Key, event)
		if ch.ToEvent != "" {
			w.say(ch.ToDB, ch.To.Key(), ch.ToEvent)
		}
	case journal.KeyExpired, journal.KeyEvicted, journal.KeyLoaded, journal.FieldsExpired:
		w.say(entry.DB, entry.Key, "gone")
	case journal.Emptied:
		for k := range w.seen {
			if k.db == entry.DB {
				delete(w.seen, k)
			}
		}
	case journal.Swapped:
		w.all = true
	}
}

// lineOf returns the running command line.
func lineOf(entry *journal.Entry) string {
	words := make([]string, len(entry.Args))
	for i := range words {
		words[i] = entry.Args.String(i)
	}
	return cliLine(words)
}

func (w *witness) say(db int, key, event string) {
	w.events[event]++
	k := keyName{db, key}
	w.said[k] = append(w.said[k], event)
}

// compare compares the keys that differ from before with what was said since.
func (w *witness) compare(who string) {
	if w.space == nil {
		return
	}
	now := w.digests()
	for _, k := range slices.SortedFunc(maps.Keys(union(now, w.seen)), func(a, b keyName) int {
		return strings.Compare(fmt.Sprint(a), fmt.Sprint(b))
	}) {
		events, changed := w.said[k], now[k] != w.seen[k]
		switch {
		case w.all:
		case changed && events == nil:
			w.fault("%s has changed %v and does not say so:\n%q\n%q", who, k, w.seen[k], now[k])
		case !changed && events != nil && !slices.ContainsFunc(events, func(e string) bool { return idle[e] }):
			w.fault("%s says %v of %v, which it has not changed", who, events, k)
		}
		delete(w.said, k)
	}
	for k, events := range w.said {
		if len(events) == 1 {
			w.fault("%s says %v of %v, which is not there", who, events, k)
		}
	}
	w.seen, w.all = now, false
	clear(w.said)
}

func (w *witness) fault(format string, args ...any) {
	w.faults = append(w.faults, fmt.Sprintf(format, args...))
}

// digests returns a digest of each key: its value, with a stream's groups, and its deadlines.
func (w *witness) digests() map[keyName]string {
	digests, encoder := map[keyName]string{}, rdb.Encoder{Valkey: w.space.FieldDeadlines}
	for n, db := range w.space.Opened() {
		db.EachStored(func(e *store.Entry) bool {
			digests[keyName{n, strings.Clone(e.Key())}] = fmt.Sprint(db.Deadline(e), digestOf(&encoder, e.Value()))
			return true
		})
	}
	return digests
}

// digestOf returns a digest of a value. The encoding of a sorted set does not count: SORT may
// change it.
func digestOf(encoder *rdb.Encoder, v store.Value) string {
	z, is := v.(*store.ZSet)
	if !is {
		return string(encoder.Dump(v))
	}
	var items []string
	z.Each(func(item store.ZItem) bool {
		items = append(items, fmt.Sprintf("%s %v", item.Bytes(), item.Score))
		return true
	})
	return strings.Join(items, "\n")
}

// union returns the keys of two maps.
func union[V any](a, b map[keyName]V) map[keyName]bool {
	all := map[keyName]bool{}
	for _, m := range []map[keyName]V{a, b} {
		for k := range m {
			all[k] = true
		}
	}
	return all
}
