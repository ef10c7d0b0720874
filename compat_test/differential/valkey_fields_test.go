package differential

import (
	"errors"
	"fmt"

	"github.com/lockredis/lockredis/compat_test/wire"
)

// lapses reports whether something expires in a step of this kind.
func (k stepKind) lapses() bool { return k == stepLapse || k == stepFields }

// shortLease is how long the fields of stepFields live, in milliseconds.
const shortLease = "3"

// expireFields generates a step in which fields of a hash expire: fields that may be there,
// fields that are set for it, or all fields of the hash.
func expireFields(g *gen) step {
	name := key("h")(g)[0]
	fields := many(1, 3, word(smallMembers))(g)
	var pairs []string
	for _, f := range fields {
		pairs = append(pairs, f, "v")
	}
	count := decimal(len(fields))
	set := invocation{name: "HSETEX",
		args: append([]string{"HSETEX", name, "PX", shortLease, "FIELDS", count}, pairs...)}
	st := step{kind: stepFields, watched: g.chance(40)}
	switch g.n(3) {
	case 0:
		st.items = []invocation{{name: "HPEXPIRE",
			args: append([]string{"HPEXPIRE", name, shortLease, "FIELDS", count}, fields...)}}
	case 1:
		st.items = []invocation{set}
	default:
		st.items = []invocation{{name: "DEL", args: []string{"DEL", name}}, set}
	}
	return st
}

// emitFields lists the commands of stepFields. With watched, an EXEC shows whether the end of
// the fields counts as a change of the key.
func (st step) emitFields() []emission {
	var out []emission
	for i := range st.items {
		out = append(out, emission{args: st.items[i].args, role: roleCommand, inv: &st.items[i]})
	}
	name := st.items[len(st.items)-1].args[1]
	if st.watched {
		out = append(out, emission{args: []string{"WATCH", name}, role: roleGlue})
	}
	out = append(out, emission{args: []string{"EVAL", goneScript, "1", name}, role: roleGone, waits: true},
		emission{args: []string{"HLEN", name}, role: roleGlue})
	if st.watched {
		out = append(out, emission{args: []string{"MULTI"}, role: roleGlue},
			emission{args: []string{"HLEN", name}, role: roleGlue, multi: true},
			// On a slow machine the fields may expire before WATCH.
			emission{args: []string{"EXEC"}, role: roleGlue, timing: true})
	}
	return out
}

// goneScript counts the databases in which the hash KEYS[1] has fields that are about to expire,
// or that have expired and are not deleted yet: HLEN counts them, HKEYS does not.
const goneScript = "local n = 0 for db = 0,2 do redis.call('SELECT', db) " +
	"local e = redis.call('OBJECT', 'ENCODING', KEYS[1]) " +
	"if e and redis.call('TYPE', KEYS[1]).ok == 'hash' then " +
	"local f = redis.call('HKEYS', KEYS[1]) " +
	"if #f ~= redis.call('HLEN', KEYS[1]) then n = n + 1 elseif #f > 0 then " +
	"for _, t in ipairs(redis.call('HPTTL', KEYS[1], 'FIELDS', #f, unpack(f))) do " +
	"if t >= 0 and t < 1000 then n = n + 1 end end end end end return n"

// deadlinesScript returns the deadlines of the fields of the hash KEYS[1], in the order of the
// fields' names.
const deadlinesScript = "local f = redis.call('HKEYS', KEYS[1]) table.sort(f) " +
	"return redis.call('HPEXPIRETIME', KEYS[1], 'FIELDS', #f, unpack(f))"

// maxPolls is how often untilGone asks. Valkey deletes expired fields within milliseconds.
const maxPolls = 100_000

// untilGone sends a script until it replies 0.
func (s *server) untilGone(e emission) (wire.Value, error) {
	for range maxPolls {
		v, err := s.do(s.poll, e)
		if n, ok := v.Int(); err != nil || !ok || n == 0 {
			return v, err
		}
	}
	return wire.Value{}, errors.New("the fields do not expire")
}

// hidePoll makes the commands of the connection poll leave the times of access as they are.
func (s *server) hidePoll(valkey bool) error {
	if !valkey {
		return nil
	}
	replies, err := exchange(s.poll, [][]string{{"CLIENT", "NO-TOUCH", "ON"}})
	if err == nil && replies[0].IsError() {
		err = fmt.Errorf("CLIENT NO-TOUCH: %s", replies[0])
	}
	return err
}
