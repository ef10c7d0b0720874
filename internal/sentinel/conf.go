//lint:file-ignore ST1005 the texts are redis-sentinel's

package sentinel

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/lockredis/lockredis/internal/config"
)

// resolveTime is how long a host name is looked up before a client or the start continues.
const resolveTime = 5 * time.Second

// The reasons why a primary or a Sentinel is refused, as Redis words them.
var (
	errNoHost           = errors.New("Can't resolve instance hostname.")
	errPort             = errors.New("Invalid port number.")
	errDuplicate        = errors.New("Duplicate master name.")
	errDuplicateReplica = errors.New("Duplicate hostname and port for replica.")
	errDuplicateID      = errors.New("Duplicate runid for sentinel.")
	errNoMaster         = errors.New("No such master with specified name.")
	errQuorum           = errors.New("Quorum must be 1 or greater.")
	errTime             = errors.New("negative or zero time parameter.")
	errTimeBelow0       = errors.New("negative time parameter.")
	errMyID             = errors.New("Malformed Sentinel id in myid option.")
	errRenamed          = errors.New("Same command renamed multiple times with rename-command.")
	errUnknownLine      = errors.New("Unrecognized sentinel configuration statement.")
)

// addressOf returns the address of an IP address, or of a name when resolve-hostnames is on.
// A name is not resolved here.
func (s *Sentinel) addressOf(host string, port int) (address, error) {
	a := address{host: host, ip: canonical(host), port: port}
	switch {
	case port < 0 || port > 65535:
		return a, errPort
	case a.ip == "" && !s.global.resolveHostnames:
		return a, errNoHost
	}
	return a, nil
}

// lookUp resolves the name of an address. It waits for the resolver, so it is not called
// inside the engine. A name that has no address stays unresolved.
func (s *Sentinel) lookUp(a address) address {
	if a.ip != "" {
		return a
	}
	ctx, cancel := context.WithTimeout(s.ctx, resolveTime)
	defer cancel()
	if ip, err := s.opts.Resolve(ctx, a.host); err == nil {
		a.ip = ip.String()
	} else {
		s.opts.Log.Warn("Failed to resolve hostname '" + a.host + "'")
	}
	return a
}

// early are the lines that are carried out before the primaries are known.
const early = " announce-ip announce-port deny-scripts-reconfig sentinel-user sentinel-pass " +
	"current-epoch myid resolve-hostnames announce-hostnames "

// load carries out the sentinel lines: first the lines that concern all primaries, then the lines
// that name a primary to monitor, then the others.
func (s *Sentinel) load() error {
	phase := func(l config.SentinelLine) int {
		switch {
		case strings.Contains(early, " "+l.Words[0]+" "):
			return 0
		case l.Words[0] == "monitor":
			return 1
		}
		return 2
	}
	for want := range 3 {
		for _, line := range s.opts.Config.SentinelLines {
			if phase(line) != want {
				continue
			}
			if err := s.loadLine(line.Words[0], line.Words[1:]); err != nil {
				return line.Errorf("%v", err)
			}
		}
	}
	return nil
}

// globalLines are the lines with one value that concern no single primary.
var globalLines = map[string]func(s *Sentinel, value string) error{
	"announce-ip":   func(s *Sentinel, v string) error { s.global.announceIP = v; return nil },
	"sentinel-user": func(s *Sentinel, v string) error { s.global.user = v; return nil },
	"sentinel-pass": func(s *Sentinel, v string) error { s.global.pass = v; return nil },
	"announce-port": func(s *Sentinel, v string) error {
		s.global.announcePort = leadingInt(v)
		return nil
	},
	"current-epoch": func(s *Sentinel, v string) error {
		s.epoch = max(s.epoch, leadingUint(v))
		return nil
	},
	"resolve-hostnames": yesNo("resolve-hostnames option",
		func(g *global) *bool { return &g.resolveHostnames }),
	"announce-hostnames": yesNo("announce-hostnames option",
		func(g *global) *bool { return &g.announceHostnames }),
	"deny-scripts-reconfig": yesNo("deny-scripts-reconfig options",
		func(g *global) *bool { return &g.denyScriptsReconfig }),
	"myid": func(s *Sentinel, v string) error {
		if len(v) != 40 {
			return errMyID
		}
		s.id = v
		return nil
	},
}

// yesNo returns the function of a line whose value is yes or no.
func yesNo(name string, field func(*global) *bool) func(*Sentinel, string) error {
	return func(s *Sentinel, value string) error {
		on, ok := parseYesNo(value)
		if !ok {
			return errors.New("Please specify yes or no for the " + name + ".")
		}
		*field(&s.global) = on
		return nil
	}
}

func parseYesNo(value string) (on, ok bool) {
	yes, no := strings.EqualFold(value, "yes"), strings.EqualFold(value, "no")
	return yes, yes || no
}

// masterLines are the lines about one primary, with the number of their words after its name.
var masterLines = map[string]struct {
	words int
	run   func(s *Sentinel, m *master, words []string) error
}{
	"down-after-milliseconds": {1, func(s *Sentinel, m *master, w []string) error {
		m.setDownAfter(int64(leadingInt(w[0])))
		return positive(m.downAfter)
	}},
	"failover-timeout": {1, func(s *Sentinel, m *master, w []string) error {
		m.failoverTimeout = int64(leadingInt(w[0]))
		return positive(m.failoverTimeout)
	}},
	"parallel-syncs": {1, func(s *Sentinel, m *master, w []string) error {
		m.parallelSyncs = leadingInt(w[0])
		return nil
	}},
	"notification-script":    {1, loadScript("notification-script")},
	"client-reconfig-script": {1, loadScript("client-reconfig-script")},
	"auth-pass": {1, func(s *Sentinel, m *master, w []string) error {
		m.authPass = w[0]
		return nil
	}},
	"auth-user": {1, func(s *Sentinel, m *master, w []string) error {
		m.authUser = w[0]
		return nil
	}},
	"config-epoch": {1, func(s *Sentinel, m *master, w []string) error {
		m.configEpoch = leadingUint(w[0])
		s.epoch = max(s.epoch, m.configEpoch)
		return nil
	}},
	"leader-epoch": {1, func(s *Sentinel, m *master, w []string) error {
		m.leaderEpoch = leadingUint(w[0])
		return nil
	}},
	"known-replica": {2, loadReplica},
	"known-slave":   {2, loadReplica},
	"master-reboot-down-after-period": {1, func(s *Sentinel, m *master, w []string) error {
		if m.rebootDownAfter = int64(leadingInt(w[0])); m.rebootDownAfter < 0 {
			return errTimeBelow0
		}
		return nil
	}},
	"rename-command": {2, func(s *Sentinel, m *master, w []string) error {
		if _, twice := m.renamed[strings.ToLower(w[0])]; twice {
			return errRenamed
		}
		m.rename(w[0], w[1])
		return nil
	}},
}

func positive(millis int64) error {
	if millis <= 0 {
		return errTime
	}
	return nil
}

// loadReplica carries out "known-replica <name> <host> <port>".
func loadReplica(s *Sentinel, m *master, w []string) error {
	addr, err := s.addressOf(w[0], leadingInt(w[1]))
	switch {
	case err != nil:
		return err
	case s.addReplica(m, s.lookUp(addr)) == nil:
		return errDuplicateReplica
	}
	return nil
}

// loadLine carries out one sentinel line.
func (s *Sentinel) loadLine(name string, words []string) error {
	if run := globalLines[name]; run != nil && len(words) == 1 {
		return run(s, words[0])
	}
	switch {
	case name == "monitor" && len(words) == 4:
		return s.loadMaster(words)
	case name == "known-sentinel" && (len(words) == 3 || len(words) == 4):
		return s.loadPeer(words)
	}
	line, known := masterLines[name]
	if !known || len(words) != line.words+1 {
		return errUnknownLine
	}
	m := s.find(words[0])
	if m == nil {
		return errNoMaster
	}
	return line.run(s, m, words[1:])
}

// loadMaster carries out "monitor <name> <host> <port> <quorum>".
func (s *Sentinel) loadMaster(w []string) error {
	quorum := leadingInt(w[3])
	if quorum <= 0 {
		return errQuorum
	}
	addr, err := s.addressOf(w[1], leadingInt(w[2]))
	switch {
	case err != nil:
		return err
	case s.find(w[0]) != nil:
		return errDuplicate
	}
	s.masters = append(s.masters, s.newMaster(w[0], s.lookUp(addr), uint32(quorum)))
	return nil
}

// loadPeer carries out "known-sentinel <name> <host> <port> <id>". The line without an id is
// of old versions, and nothing is known without it.
func (s *Sentinel) loadPeer(w []string) error {
	if len(w) == 3 {
		return nil
	}
	m := s.find(w[0])
	if m == nil {
		return errNoMaster
	}
	addr, err := s.addressOf(w[1], leadingInt(w[2]))
	switch {
	case err != nil:
		return err
	case m.peerByID(w[3]) != nil:
		return errDuplicateID
	}
	s.addPeer(m, w[3], s.lookUp(addr))
	return nil
}

// rename makes this Sentinel send a command to m under another name. A command that is
// renamed to itself has its own name again.
func (m *master) rename(from, to string) {
	key := strings.ToLower(from)
	delete(m.renamed, key)
	for i, r := range m.renames {
		if strings.EqualFold(r[0], from) {
			m.renames = append(m.renames[:i:i], m.renames[i+1:]...)
			break
		}
	}
	if !strings.EqualFold(from, to) {
		m.renamed[key] = to
		m.renames = append(m.renames, [2]string{from, to})
	}
}

// flush writes the state into the configuration file, if there is one. It reports whether
// that succeeded, and logs it.
func (s *Sentinel) flush() bool {
	if s.opts.Config.File == "" {
		return true
	}
	if err := s.opts.Config.Rewrite(); err != nil {
		s.opts.Log.Warn("WARNING: Sentinel was not able to save the new configuration on disk!!!: " +
			err.Error())
		return false
	}
	s.opts.Log.Info("Sentinel new configuration saved on disk")
	return true
}

// lines returns the sentinel lines of the present state, in redis-sentinel's order.
func (s *Sentinel) lines() (out []config.SentinelStateLine) {
	line := func(usual bool, words ...string) {
		for i, w := range words {
			words[i] = config.Quoted(w)
		}
		out = append(out, config.SentinelStateLine{
			Text: "sentinel " + strings.Join(words, " "), Usual: usual})
	}
	add := func(words ...string) { line(false, words...) }
	g := s.global
	add("myid", s.id)
	line(g.denyScriptsReconfig, "deny-scripts-reconfig", yesOrNo(g.denyScriptsReconfig))
	line(!g.resolveHostnames, "resolve-hostnames", yesOrNo(g.resolveHostnames))
	line(!g.announceHostnames, "announce-hostnames", yesOrNo(g.announceHostnames))
	for _, m := range s.masters {
		s.masterLines(m, add)
	}
	add("current-epoch", strconv.FormatUint(s.epoch, 10))
	if g.announceIP != "" { // always in quotes
		out = append(out, config.SentinelStateLine{
			Text: "sentinel announce-ip " + strconv.Quote(g.announceIP)})
	}
	if g.announcePort != 0 {
		add("announce-port", strconv.Itoa(g.announcePort))
	}
	if g.user != "" {
		add("sentinel-user", g.user)
	}
	if g.pass != "" {
		add("sentinel-pass", g.pass)
	}
	return out
}

// written returns the host of an address for the configuration file. A name that has no
// address yet is written as it is.
func (s *Sentinel) written(a address) string {
	if host := s.shown(a); host != "" {
		return host
	}
	return a.host
}

// masterLines adds the lines of one primary. A line with a default value is left out.
func (s *Sentinel) masterLines(m *master, add func(...string)) {
	number := func(option string, n, usual int64) {
		if n != usual {
			add(option, m.name, strconv.FormatInt(n, 10))
		}
	}
	text := func(option, value string) {
		if value != "" {
			add(option, m.name, value)
		}
	}
	addr := m.currentAddr()
	add("monitor", m.name, s.written(addr), strconv.Itoa(addr.port), strconv.Itoa(int(int32(m.quorum))))
	number("down-after-milliseconds", m.downAfter, s.periods.downAfter)
	number("failover-timeout", m.failoverTimeout, s.periods.failoverTimeout)
	number("parallel-syncs", int64(m.parallelSyncs), 1)
	text("auth-pass", m.authPass)
	text("auth-user", m.authUser)
	number("master-reboot-down-after-period", m.rebootDownAfter, 0)
	add("config-epoch", m.name, strconv.FormatUint(m.configEpoch, 10))
	add("leader-epoch", m.name, strconv.FormatUint(m.leaderEpoch, 10))
	for _, r := range m.replicas {
		known := r.addr
		if addr.is(known.host, known.port) { // it is the primary by now
			known = m.addr
		}
		add("known-replica", m.name, s.written(known), strconv.Itoa(known.port))
	}
	for _, p := range m.peers {
		add("known-sentinel", m.name, s.written(p.addr), strconv.Itoa(p.addr.port), p.runID)
	}
	for _, r := range m.renames {
		add("rename-command", m.name, r[0], r[1])
	}
}
