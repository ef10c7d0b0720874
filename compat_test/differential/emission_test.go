package differential

import (
	"slices"
	"strconv"
	"strings"
)

// role is the reason why a command is sent.
type role int

const (
	roleCommand  role = iota // a generated command
	roleProbe                // gets the facts that an exception needs
	roleGlue                 // MULTI, EXEC, clean-up: compared, not counted
	roleSilent               // sent, not compared
	roleWholeRun             // a scan that runs to its end on both servers
	roleGone                 // waits until fields of a hash have expired, see untilGone
)

// emission is one command as it is sent.
type emission struct {
	args []string
	role role
	inv  *invocation
	// probes are the indexes of the probes for this command, counted back from it.
	probes int
	// other means that the second connection sends the command.
	other bool
	// waits means that the server may take its time. Both servers then wait for each other
	// after the command. Otherwise deadlines set later in the sequence would differ more and
	// more.
	waits bool
	// multi is true for the commands between MULTI and EXEC.
	multi bool
	// timing means that a difference in an EXEC is one of time.
	timing bool
	// valkey means that Valkey's exceptions count.
	valkey bool
}

func (e emission) remark() string {
	switch {
	case e.role == roleWholeRun:
		return "   # and on to cursor 0"
	case e.role == roleGone:
		return "   # from a third connection, until it replies 0"
	case e.other:
		return "   # from a second connection"
	}
	return ""
}

// prefix returns the commands that bring both servers to the same empty state.
func (s sequence) prefix() [][]string {
	cmds := [][]string{{"RESET"}, {"HELLO", strconv.Itoa(s.resp)}, {"FLUSHALL"}}
	if s.contains("SCRIPT", "EVALSHA", "EVALSHA_RO") {
		cmds = append(cmds, []string{"SCRIPT", "FLUSH"}, []string{"SCRIPT", "LOAD", loadedScripts[0]},
			[]string{"SCRIPT", "LOAD", loadedScripts[1]})
	}
	if s.contains("FUNCTION", "FCALL", "FCALL_RO") {
		common, _ := libraries()
		cmds = append(cmds, []string{"FUNCTION", "FLUSH"}, []string{"FUNCTION", "LOAD", common[0]},
			[]string{"FUNCTION", "LOAD", common[2]}, []string{"FUNCTION", "LOAD", common[4]})
	}
	if s.tracking != nil {
		cmds = append(cmds, append([]string{"CLIENT", "TRACKING"}, s.tracking...))
	}
	return cmds
}

// limits are the settings of both servers for this sequence.
func (s sequence) limits() []string {
	if !s.small {
		return []string{"CONFIG", "SET", "hash-max-listpack-entries", "128",
			"hash-max-listpack-value", "64", "list-max-listpack-size", "-2",
			"set-max-intset-entries", "512", "zset-max-listpack-entries", "128", "hll-sparse-max-bytes", "3000",
			"zset-max-listpack-value", "64", "stream-node-max-entries", "100",
			"stream-node-max-bytes", "4096", "notify-keyspace-events", "KEA"}
	}
	// SORT looks its patterns up in hash-table order, which keymiss events would show.
	events := "KEAmn"
	if s.contains("SORT", "SORT_RO") {
		events = "KEAn"
	}
	return []string{"CONFIG", "SET", "hash-max-listpack-entries", "8",
		"hash-max-listpack-value", "16", "list-max-listpack-size", "4",
		"set-max-intset-entries", decimal(smallIntset), "zset-max-listpack-entries", "6", "hll-sparse-max-bytes", "60",
		"zset-max-listpack-value", "16", "stream-node-max-entries", "3",
		"stream-node-max-bytes", "120", "notify-keyspace-events", events}
}

// contains reports whether one of the commands is in the sequence.
func (s sequence) contains(names ...string) bool {
	for _, st := range s.steps {
		for _, inv := range st.items {
			if slices.Contains(names, strings.ToUpper(inv.args[0])) {
				return true
			}
		}
	}
	return false
}

// emit lists the commands that the step sends. place counts the invocations of the whole
// sequence.
func (st step) emit(place *int, exceptionOf exceptions) []emission {
	var out []emission
	switch st.kind {
	case stepMulti, stepDiscard:
		out = append(out, emission{args: []string{"MULTI"}, role: roleGlue})
		for i := range st.items {
			for _, e := range st.items[i].emit(place, exceptionOf) {
				e.multi = true
				out = append(out, e)
			}
		}
		end := "EXEC"
		if st.kind == stepDiscard {
			end = "DISCARD"
		}
		out = append(out, emission{args: []string{end}, role: roleGlue})
		for i := range st.items {
			out = append(out, st.items[i].expiredAtOnce()...)
		}
	case stepLapse:
		*place++
		k := st.items[0].args[1]
		// The server itself waits, so that the wait keeps its place in the pipeline. The access
		// after it makes the event appear here, and not whenever the server notices.
		for _, args := range [][]string{{"PEXPIRE", k, "3"}, {"BLPOP", "lapse", "0.006"}, {"EXISTS", k}} {
			out = append(out, emission{args: args, role: roleGlue, waits: args[0] == "BLPOP"})
		}
	case stepFields:
		*place++
		out = st.emitFields()
	case stepScan:
		*place++
		// PING uses CLIENT CACHING up, which would count for the first call only.
		out = append(out, emission{args: []string{"PING"}, role: roleGlue},
			emission{args: st.items[0].args, role: roleWholeRun, inv: &st.items[0]})
	case stepOther:
		out = st.items[0].emit(place, exceptionOf)
		out = append(out, st.items[0].expiredAtOnce()...)
		for i := range out {
			out[i].other = true
		}
	default:
		out = append(st.items[0].emit(place, exceptionOf), st.items[0].expiredAtOnce()...)
	}
	return out
}

// emit lists the probes for an exception, the command, and the clean-up after it.
func (inv *invocation) emit(place *int, exceptionOf exceptions) []emission {
	*place++
	args := fill(inv.args, *place)
	var out []emission
	x, _ := exceptionOf(args)
	if x.before != nil {
		for _, p := range x.before(args) {
			out = append(out, emission{args: p, role: roleGlue})
		}
	}
	if x.probes != nil {
		for _, p := range x.probes(args) {
			out = append(out, emission{args: p, role: roleProbe})
		}
	}
	probes := len(out)
	sent := args
	if inv.via != viaPlain {
		sent = append([]string{"EVAL", inv.via.script(), "0"}, args...)
	}
	out = append(out, emission{args: sent, role: roleCommand, inv: inv, probes: probes,
		waits: waits(sent[0])})
	if x.after != nil {
		for _, p := range x.after(args) {
			out = append(out, emission{args: p, role: roleGlue})
		}
	}
	return out
}

// fill sets the times to live: an hour and more, all different.
func fill(args []string, place int) []string {
	out := args
	for i, a := range args {
		if a != placeSeconds && a != placeMillis {
			continue
		}
		if &out[0] == &args[0] {
			out = append([]string{}, args...)
		}
		seconds := 3600 + 20*place
		if a == placeMillis {
			seconds *= 1000
		}
		out[i] = strconv.Itoa(seconds)
	}
	return out
}

// expiredAtOnce is an access to the keys of a SET or MSETEX whose deadline may be in the past. Redis
// publishes the end of such a key at the next access, or a little earlier.
func (inv *invocation) expiredAtOnce() []emission {
	if len(inv.args) < 4 {
		return nil
	}
	keys := inv.args[1:2]
	switch strings.ToUpper(inv.args[0]) {
	case "SET":
	case "MSETEX":
		keys = inv.args[2:] // and values, and options
	default:
		return nil
	}
	for _, a := range inv.args[3:] {
		if strings.HasSuffix(strings.ToUpper(a), "XAT") {
			return []emission{{args: append([]string{"EXISTS"}, keys...), role: roleGlue}}
		}
	}
	return nil
}
