package simulation

import (
	"slices"
	"strings"
)

// book has the deadlines of all keys that were seen with one.
type book struct {
	records []record
	at      map[string]int
}

type record struct {
	key      string
	deadline int64 // on the server's clock
}

func (b *book) set(key string, deadline int64) {
	if i, ok := b.at[key]; ok {
		b.records[i].deadline = deadline
		return
	}
	b.at[key] = len(b.records)
	b.records = append(b.records, record{key, deadline})
}

func (b *book) forget(key string) {
	i, ok := b.at[key]
	if !ok {
		return
	}
	last := len(b.records) - 1
	b.records[i] = b.records[last]
	b.at[b.records[i].key] = i
	b.records = b.records[:last]
	delete(b.at, key)
}

func (b *book) deadline(key string) (int64, bool) {
	i, ok := b.at[key]
	if !ok {
		return 0, false
	}
	return b.records[i].deadline, true
}

// observe records the key's present deadline. It reads the stored value, so it does
// not expire the key itself.
func (w *world) observe(key string) {
	switch deadline := w.deadline(key); deadline {
	case 0, gone:
		w.book.forget(key)
	default:
		w.book.set(key, deadline)
	}
}

// gone is the deadline of a key that does not exist.
const gone = -1

// deadline returns when a key expires, 0 for never.
func (w *world) deadline(key string) int64 {
	db := w.e.Env().Space.DB(0)
	e := db.Peek([]byte(key))
	if e == nil {
		return gone
	}
	return db.Deadline(e)
}

// expired records that a key has expired.
func (w *world) expired(_, key string) {
	w.count("expired")
	deadline, known := w.book.deadline(key)
	switch {
	case !known:
		w.fail(ruleExpiry, "%s has expired, but no deadline of it was seen", key)
	case deadline > w.server():
		w.fail(ruleExpiry, "%s has expired %d ms early", key, deadline-w.server())
	}
	w.book.forget(key)
}

// probe reads a key with one of several commands.
func (w *world) probe(d *random) {
	if len(w.book.records) == 0 {
		return
	}
	r := w.book.records[d.n(len(w.book.records))]
	for range 16 { // prefer a key whose deadline has passed
		if r.deadline <= w.server() {
			break
		}
		r = w.book.records[d.n(len(w.book.records))]
	}
	l := w.dial(pick(d, 2, 3), nil)
	defer l.hangUp()
	if r.deadline <= w.server() {
		w.count("probe of an expired key")
		w.probeGone(l, d, r.key)
		return
	}
	w.count("probe of a live key")
	if left := l.do("PTTL", r.key); left != r.deadline-w.server() {
		w.fail(ruleExpiry, "PTTL %s is %v, not %d", r.key, left, r.deadline-w.server())
	}
	if l.do("EXISTS", r.key) != int64(1) {
		w.fail(ruleExpiry, "%s is gone %d ms early", r.key, r.deadline-w.server())
	}
}

func (w *world) probeGone(l *link, d *random, key string) {
	lists := func(v any, i int) bool {
		list, _ := v.([]any)
		if i >= 0 {
			list, _ = list[i].([]any)
		}
		return slices.Contains(list, any(key))
	}
	visible := false
	switch d.n(10) {
	case 0:
		visible = l.do("EXISTS", key) != int64(0)
	case 1:
		visible = l.do("PTTL", key) != int64(-2)
	case 2:
		visible = l.do("TYPE", key) != "none"
	case 3:
		visible = l.do("EVAL", "return redis.call('exists', KEYS[1])", "1", key) != int64(0)
	case 4:
		visible = lists(l.do("KEYS", "*"), -1)
	case 5:
		visible = lists(l.do("SCAN", "0", "COUNT", "100000"), 1)
	case 6:
		visible = l.do("RANDOMKEY") == any(key)
	case 7:
		visible = l.do("TOUCH", key) != int64(0)
	case 8:
		visible = l.do("DEL", key) != int64(0)
	case 9:
		visible = l.do("PEXPIRE", key, "100000") != int64(0)
	}
	if visible {
		w.fail(ruleExpiry, "%s is visible beyond its deadline", key)
	}
}

// audit checks everything.
func (w *world) audit() {
	if !w.lazy {
		w.e.Outside(w.e.EndDue)
	}
	w.e.Outside(func() {
		if err := w.e.Check(); err != nil {
			w.fail(ruleIndexes, "%v", err)
		}
	})
	if !w.lazy {
		for _, r := range w.book.records {
			if r.deadline <= w.server() {
				w.fail(ruleExpiry, "no event was published for the expired key %s", r.key)
			}
		}
	}
	for _, l := range w.locks {
		l.bury()
		l.check()
	}
	for _, a := range w.actors {
		if c, ok := a.(interface{ check() }); ok {
			c.check()
		}
	}
	for key, l := range w.latches {
		if l.until <= w.server() {
			delete(w.latches, key)
		}
	}
	if n := w.e.Env().Stats.Unexpected; n > 0 {
		w.fail(rulePanic, "%d panics in commands", n)
	}
}

// sorted returns a map's keys in order.
func sorted[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.SortFunc(names, strings.Compare)
	return names
}
