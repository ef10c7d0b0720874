package sentinel

import (
	"strconv"
	"strings"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/glob"
	"github.com/lockredis/lockredis/resp"
)

var errConfigForm = resp.Error("ERR Only SENTINEL CONFIG GET <option> / SET <option> <value> " +
	"are supported.")

// setOption is an option of SENTINEL SET with one value.
type setOption struct {
	least int64 // of a number
	set   func(m *master, n int64)
	text  func(m *master, value string) // in place of set, for other values
	hide  bool                          // the event does not show the value
}

var setOptions = map[string]setOption{
	"down-after-milliseconds":         {least: 1, set: (*master).setDownAfter},
	"failover-timeout":                {least: 1, set: func(m *master, n int64) { m.failoverTimeout = n }},
	"parallel-syncs":                  {least: 1, set: func(m *master, n int64) { m.parallelSyncs = int(n) }},
	"quorum":                          {least: 1, set: func(m *master, n int64) { m.quorum = uint32(n) }},
	"master-reboot-down-after-period": {set: func(m *master, n int64) { m.rebootDownAfter = n }},
	"auth-pass": {hide: true, text: func(m *master, value string) {
		m.authPass = value
		m.disconnect()
	}},
	"auth-user": {text: func(m *master, value string) {
		m.authUser = value
		m.disconnect()
	}},
}

// setMaster is SENTINEL SET. The options before a mistake stay in effect, as in Redis.
func setMaster(s *Sentinel, _ *command.Ctx, args resp.Args) resp.Reply {
	m := s.find(args.String(2))
	if m == nil {
		return errNoSuchMaster
	}
	for i := 3; i < len(args); {
		used, failure := s.setOne(m, args[i:])
		if used == 0 {
			if i > 3 {
				s.flush()
			}
			return failure
		}
		i += used
	}
	return s.saved()
}

// setOne carries out the first option of args and returns how many arguments it took, 0 with
// the reply to a mistake.
func (s *Sentinel) setOne(m *master, args resp.Args) (used int, failure resp.Reply) {
	option := args.String(0)
	name := strings.ToLower(option)
	o, known := setOptions[name]
	badValue := func(i int) (int, resp.Reply) {
		return 0, resp.Errorf("ERR Invalid argument '%s' for SENTINEL SET '%s'", args[i], option)
	}
	switch {
	case known && len(args) > 1:
		shown := args.String(1)
		if o.text != nil {
			o.text(m, shown)
		} else {
			n, ok := resp.ParseInt(args[1])
			if !ok || n < o.least {
				return badValue(1)
			}
			o.set(m, n)
		}
		if o.hide {
			shown = "******"
		}
		s.warn("+set", "%v %s %s", m, option, shown)
		return 2, resp.Reply{}
	case scripts[name] != "" && len(args) > 1:
		switch {
		case s.global.denyScriptsReconfig:
			return 0, errScriptsDenied
		case len(args[1]) > 0:
			return 0, resp.Errorf("ERR %v", refuseScript(name, args.String(1)))
		}
		s.warn("+set", "%v %s ", m, option) // an empty value takes the script away, and there is none
		return 2, resp.Reply{}
	case name == "rename-command" && len(args) > 2:
		switch {
		case len(args[1]) == 0 && len(args[2]) > 0:
			return badValue(1)
		case len(args[2]) == 0:
			return badValue(2)
		}
		m.rename(args.String(1), args.String(2))
		s.warn("+set", "%v %s %s %s", m, option, args[1], args[2])
		return 3, resp.Reply{}
	}
	return 0, resp.Errorf(
		"ERR Unknown option or number of arguments for SENTINEL SET '%s'", option)
}

// configOptions are the options of SENTINEL CONFIG, in the order of GET.
var configOptions = []struct {
	name string
	get  func(g *global) string
	set  func(g *global, value string) (ok bool)
	drop bool // the connections to other Sentinels are opened anew
}{
	{name: "resolve-hostnames", get: func(g *global) string { return yesOrNo(g.resolveHostnames) },
		set: func(g *global, v string) bool { return setYesNo(&g.resolveHostnames, v) }},
	{name: "announce-hostnames", get: func(g *global) string { return yesOrNo(g.announceHostnames) },
		set: func(g *global, v string) bool { return setYesNo(&g.announceHostnames, v) }},
	{name: "announce-ip", get: func(g *global) string { return g.announceIP },
		set: func(g *global, v string) bool { g.announceIP = v; return true }},
	{name: "announce-port", get: func(g *global) string { return strconv.Itoa(g.announcePort) },
		set: func(g *global, v string) bool {
			n, ok := resp.ParseInt([]byte(v))
			if ok = ok && n >= 0 && n <= 65535; ok {
				g.announcePort = int(n)
			}
			return ok
		}},
	{name: "sentinel-user", get: func(g *global) string { return g.user }, drop: true,
		set: func(g *global, v string) bool { g.user = v; return true }},
	{name: "sentinel-pass", get: func(g *global) string { return g.pass }, drop: true,
		set: func(g *global, v string) bool { g.pass = v; return true }},
}

func yesOrNo(on bool) string {
	if on {
		return "yes"
	}
	return "no"
}

func setYesNo(to *bool, value string) (ok bool) {
	on, ok := parseYesNo(value)
	if ok {
		*to = on
	}
	return ok
}

// configure is SENTINEL CONFIG.
func configure(s *Sentinel, _ *command.Ctx, args resp.Args) resp.Reply {
	switch sub := strings.ToLower(args.String(2)); {
	case sub == "get" && len(args) == 4:
		var f fields
		for _, o := range configOptions {
			if glob.Match(args.String(3), o.name, true) {
				f.text(o.name, o.get(&s.global))
			}
		}
		return resp.Map(f.all...)
	case sub == "set" && len(args) == 5:
		return s.configSet(args.String(3), args.String(4))
	}
	return errConfigForm
}

func (s *Sentinel) configSet(option, value string) resp.Reply {
	for _, o := range configOptions {
		if !strings.EqualFold(option, o.name) {
			continue
		}
		if !o.set(&s.global, value) {
			return resp.Errorf("ERR Invalid value '%s' to SENTINEL CONFIG SET '%s'", value, option)
		}
		reply := s.saved()
		for _, m := range s.masters {
			for _, p := range m.peers {
				if o.drop {
					p.link.disconnect()
				}
			}
		}
		return reply
	}
	return resp.Errorf("ERR Invalid argument '%s' to SENTINEL CONFIG SET", option)
}

// debugOptions are the times of SENTINEL DEBUG, in its order.
func (p *periods) debugOptions() []struct {
	name string
	ms   *int64
} {
	return []struct {
		name string
		ms   *int64
	}{
		{"INFO-PERIOD", &p.info}, {"PING-PERIOD", &p.ping}, {"ASK-PERIOD", &p.ask},
		{"PUBLISH-PERIOD", &p.publish}, {"DEFAULT-DOWN-AFTER", &p.downAfter},
		{"DEFAULT-FAILOVER-TIMEOUT", &p.failoverTimeout}, {"TILT-TRIGGER", &p.tiltTrigger},
		{"TILT-PERIOD", &p.tilt}, {"SLAVE-RECONF-TIMEOUT", &p.replicaReconf},
		{"MIN-LINK-RECONNECT-PERIOD", &p.minReconnect}, {"ELECTION-TIMEOUT", &p.election},
		{"SCRIPT-MAX-RUNTIME", &p.scriptRuntime}, {"SCRIPT-RETRY-DELAY", &p.scriptTry},
	}
}

// debug is SENTINEL DEBUG: it shows the times, or changes them. The times before a mistake
// stay changed, as in Redis.
func debug(s *Sentinel, _ *command.Ctx, args resp.Args) resp.Reply {
	options := s.periods.debugOptions()
	if len(args) == 2 {
		var f fields
		for _, o := range options {
			f.number(o.name, *o.ms)
		}
		return resp.Map(f.all...)
	}
next:
	for i := 2; i < len(args); i += 2 {
		for _, o := range options {
			if i+1 == len(args) || !strings.EqualFold(args.String(i), o.name) {
				continue
			}
			n, ok := resp.ParseInt(args[i+1])
			if !ok || n <= 0 {
				return resp.Errorf("ERR Invalid argument '%s' for SENTINEL DEBUG '%s'", args[i+1], args[i])
			}
			*o.ms = n
			continue next
		}
		return resp.Errorf(
			"ERR Unknown option or number of arguments for SENTINEL DEBUG '%s'", args[i])
	}
	return resp.OK
}
