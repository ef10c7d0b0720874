package differential

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockredis/lockredis/compat_test/wire"
)

// mode is what a whole sequence has in common. The zero mode is a connection that tracks
// nothing, on servers without a limit of memory.
type mode struct {
	resp int
	// small means that the limits of the compact encodings are low.
	small bool
	// tracking is how the connection tracks keys, as the arguments of CLIENT TRACKING. nil: not
	// at all. The connection's own invalidations are compared, and its redirected ones.
	tracking []string
	// single means that each command waits for the reply to the one before. What an invalidation
	// of BCAST contains would otherwise depend on how many commands a server reads at once.
	single bool
	// policy is the maxmemory-policy, "" for the default. With one, OBJECT tells how often, or
	// how long ago, a key was used.
	policy string
	// slow means that SLOWLOG has all commands.
	slow bool
	// valkey means that the oracle is Valkey.
	valkey bool
}

const lfu, lru = "allkeys-lfu", "allkeys-lru"

// placeCrowd and placeEvents stand for the ids of the subscribers. They are known when a sequence
// is run.
const placeCrowd, placeEvents = "\x00crowd", "\x00events"

var redirection = oneOf(lit("REDIRECT", placeCrowd), lit("REDIRECT", placeEvents))

func drawMode(g *gen) mode {
	m := mode{resp: 2 + g.n(2), small: g.chance(40), single: g.chance(12)}
	if g.chance(40) || m.single && g.chance(60) {
		m.tracking = drawTracking(g, m)
	}
	if g.chance(20) {
		m.policy = g.pick([]string{lfu, lfu, lru})
	}
	m.slow = g.chance(15)
	return m
}

func drawTracking(g *gen, m mode) []string {
	args := []string{"ON"}
	switch {
	case m.single && g.chance(85):
		args = append(args, "BCAST")
		args = append(args, many(0, 2, trackedPrefix)(g)...)
	default:
		args = append(args, oneOf(lit(), lit(), lit("OPTIN"), lit("OPTOUT"))(g)...)
	}
	args = append(args, opt(25, lit("NOLOOP"))(g)...)
	if m.resp == 2 || g.chance(30) {
		args = append(args, redirection(g)...)
	}
	return args
}

var trackedPrefix = seq(lit("PREFIX"), word([]string{"s", "h", "l", "t", "z", "x", "s1", "x0", "l0", ""}))

// trackingArguments generates the arguments of CLIENT TRACKING within a sequence.
func trackingArguments(g *gen) []string {
	words := []part{opt(30, redirection), opt(20, lit("NOLOOP")),
		opt(40, word([]string{"OPTIN", "OPTOUT"})),
		opt(7, word([]string{"PREFIX", "REDIRECT", "else", "OPTIN"}))}
	if g.single {
		words[2] = oneOf(words[2], lit("BCAST"), seq(lit("BCAST"), many(1, 2, trackedPrefix)),
			opt(30, lit("BCAST"), trackedPrefix), opt(30, trackedPrefix))
	}
	onOff := mostly([]string{"ON", "OFF", "on"}, []string{"ON"}, []string{"maybe"})
	return seq(onOff, opt(75, anyOrder(words...)))(g)
}

// special generates a command that succeeds only in the sequence's mode, which would otherwise be
// too rare. It returns false when the mode has none, and in most cases.
func (m *maker) special(g *gen) (invocation, bool) {
	if m.chosen || !g.chance(6) {
		return invocation{}, false
	}
	var words [][]string
	switch {
	case slices.Contains(g.tracking, "OPTIN"):
		words = append(words, []string{"CLIENT CACHING", "YES"})
	case slices.Contains(g.tracking, "OPTOUT"):
		words = append(words, []string{"CLIENT CACHING", "NO"})
	case g.single:
		words = append(words, append([]string{"CLIENT TRACKING"}, trackingArguments(g)...))
	}
	switch g.policy {
	case lfu:
		words = append(words, append([]string{"OBJECT FREQ"}, key("")(g)...))
	case lru:
		words = append(words, append([]string{"OBJECT IDLETIME"}, key("")(g)...))
	}
	if len(words) == 0 {
		return invocation{}, false
	}
	chosen := words[g.n(len(words))]
	for _, gr := range m.groups {
		for _, c := range gr.commands {
			if c.name == chosen[0] {
				return invocation{name: c.name, options: c.options, args: append(c.words(), chosen[1:]...)}, true
			}
		}
	}
	return invocation{}, false
}

// countsAccesses reports whether the accesses that a command makes are determined. A string that a
// script sets may be an old object of redis-server's, with the accesses that it had in another key.
// Which keys SORT looks up may depend on the order of equal elements.
func countsAccesses(name string) bool {
	for _, no := range []string{"EVALSHA", "FCALL", "SORT"} {
		if strings.HasPrefix(name, no) {
			return false
		}
	}
	return true
}

// memory are the settings of the mode's policy. The factor 0 makes each access count, and the
// decay time 0 forgets none: in other settings both are left to chance and time. With a limit
// of memory, Redis does not share small integers, so that each key has its own accesses.
func (m mode) memory() []string {
	if m.policy == "" {
		return []string{"maxmemory", "0", "maxmemory-policy", "noeviction"}
	}
	return []string{"maxmemory", "1000gb", "maxmemory-policy", m.policy, "lfu-log-factor", "0",
		"lfu-decay-time", "0"}
}

// accesses is the command that tells when or how often a key was used.
func (m mode) accesses(key string) [][]string {
	switch m.policy {
	case lfu:
		return [][]string{{"OBJECT", "FREQ", key}}
	case lru:
		return [][]string{{"OBJECT", "IDLETIME", key}}
	}
	return nil
}

// maxAlign is how many connections the servers may be apart.
const maxAlign = 20_000

// listen opens the subscribers of both servers: events in RESP3, which receives every message
// and every keyspace event, and crowd in RESP2, which receives some. Both get the same id on
// both servers, because commands name it.
func (p *pair) listen() (*difference, error) {
	open := func(conn func(s *server) **wire.Conn, topics ...[]string) (*difference, error) {
		var d *difference
		var err error
		for range maxAlign {
			d, err = p.both("connecting", func(s *server) error { return s.open(conn(s)) })
			if d != nil || err != nil {
				return d, err
			}
			low, high := p.oracle, p.target
			if low.id > high.id {
				low, high = high, low
			}
			if low.id == high.id {
				return p.both("subscribing", func(s *server) error {
					_, err := exchange(*conn(s), topics)
					return err
				})
			}
			(*conn(low)).Close()
			*conn(low) = nil
		}
		return nil, fmt.Errorf("the ids of connections are %d and %d", p.oracle.id, p.target.id)
	}
	if d, err := open(func(s *server) **wire.Conn { return &s.events }, []string{"HELLO", "3"},
		[]string{"PSUBSCRIBE", "*"}, []string{"SUBSCRIBE", "news"}, []string{"SSUBSCRIBE", "shard"}); d != nil || err != nil {
		return d, err
	}
	p.eventsID = p.oracle.id
	d, err := open(func(s *server) **wire.Conn { return &s.crowd }, []string{"SUBSCRIBE", "news"},
		[]string{"SUBSCRIBE", "chat"}, []string{"SUBSCRIBE", "__redis__:invalidate"}, []string{"PSUBSCRIBE", "n*"},
		[]string{"SSUBSCRIBE", "shard"})
	p.crowdID = p.oracle.id
	return d, err
}

// open connects *conn unless it is connected, and sets s.id to the connection's id.
func (s *server) open(conn **wire.Conn) error {
	if *conn == nil {
		c, err := wire.Dial(s.addr)
		if err != nil {
			return err
		}
		c.SetTimeout(replyTimeout)
		*conn = c
	}
	replies, err := exchange(*conn, [][]string{{"CLIENT", "ID"}})
	if err == nil {
		s.id, _ = replies[0].Int()
	}
	return err
}

// named returns args with the ids of the subscribers in their places.
func (p *pair) named(args []string) []string {
	named := slices.Clone(args)
	for i, a := range args {
		switch a {
		case placeCrowd:
			named[i] = fmt.Sprint(p.crowdID)
		case placeEvents:
			named[i] = fmt.Sprint(p.eventsID)
		}
	}
	return named
}

// laterDeadline moves deadlines of a SET that are in the past to the future. Redis deletes such a
// key a moment later, so that it may come before or after the next command's invalidations.
func laterDeadline(args []string) []string {
	for i := 3; i+1 < len(args); i++ {
		if strings.HasSuffix(strings.ToUpper(args[i]), "XAT") && len(args[i+1]) < 10 {
			args[i+1] = "4102444800000"
		}
	}
	return args
}
