package sentinel

import (
	"context"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/lockredis/lockredis/expiry"
	"github.com/lockredis/lockredis/internal/config"
	"github.com/lockredis/lockredis/internal/engine"
)

// Options are the settings and dependencies of a Sentinel.
type Options struct {
	Config *config.Config
	Clock  expiry.Clock
	Log    *slog.Logger

	// Dial connects to "host:port". Nil means TCP.
	Dial func(ctx context.Context, addr string) (net.Conn, error)
	// Resolve returns an address of a host name. Nil means the system's resolver.
	Resolve func(ctx context.Context, host string) (netip.Addr, error)
	// Crash ends the node after SENTINEL SIMULATE-FAILURE. It is called in a goroutine of its own. Nil
	// means that the Sentinel only stops to monitor.
	Crash func()
}

// Sentinel is the state of one Sentinel.
type Sentinel struct {
	opts   Options
	engine *engine.Engine // nil before Start

	// The engine's lock guards the fields below, once Start has run.
	id       string // 40 hex digits
	port     int    // that this Sentinel listens on
	epoch    uint64 // current epoch
	masters  []*master
	global   global
	periods  periods
	previous int64 // time of the last tick
	tilted   bool
	tiltedAt int64
	crashes  crash // the steps of a failover at which it ends
	crashed  bool  // it has ended so

	closing bool
	met     []*meeting
	hurried int           // callers that wait, see hurry
	woken   chan struct{} // ends the timer's wait. Capacity 1

	ctx     context.Context // ends with Close
	cancel  context.CancelFunc
	running sync.WaitGroup // the timer, the connections and the clients' look-ups
}

// global are the settings of sentinel lines that concern no single primary.
type global struct {
	announceIP          string
	announcePort        int
	user, pass          string // to authenticate with other Sentinels
	denyScriptsReconfig bool
	resolveHostnames    bool
	announceHostnames   bool
}

// New returns a Sentinel that monitors what opts.Config says. The error names the sentinel
// line that is wrong.
func New(opts Options) (*Sentinel, error) {
	s := &Sentinel{opts: opts, periods: defaultPeriods(), woken: make(chan struct{}, 1)}
	s.global.denyScriptsReconfig = true
	if s.opts.Dial == nil {
		s.opts.Dial = func(ctx context.Context, addr string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", addr)
		}
	}
	if s.opts.Resolve == nil {
		s.opts.Resolve = resolve
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.previous = s.now()
	if err := s.load(); err != nil {
		return nil, err
	}
	opts.Config.SentinelState = s.lines
	return s, nil
}

// resolve asks the system's resolver. It prefers IPv4, because a server on "localhost" may
// listen there only.
func resolve(ctx context.Context, host string) (netip.Addr, error) {
	addrs, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return netip.Addr{}, err
	}
	for _, addr := range addrs {
		if addr = addr.Unmap(); addr.Is4() {
			return addr, nil
		}
	}
	return addrs[0], nil
}

// Start begins to monitor. port is the port that this Sentinel tells the others. Start is
// called once, after the engine has started and outside of it.
func (s *Sentinel) Start(e *engine.Engine, port int) {
	s.engine, s.port = e, port
	e.Outside(func() {
		if s.id == "" {
			s.id = s.randomID()
			s.flush()
		}
		s.opts.Log.Warn("Sentinel ID is " + s.id)
		for _, m := range s.masters {
			s.warn("+monitor", "%v quorum %d", m, int32(m.quorum))
		}
		s.previous = s.now()
	})
	s.running.Go(s.runTimer)
}

// spawn runs f in a goroutine that Close waits for. After Close it runs nothing. It is called
// inside the engine.
func (s *Sentinel) spawn(f func()) {
	if !s.closing {
		s.running.Go(f)
	}
}

// Close ends the timer and the connections. It is called outside of the engine.
func (s *Sentinel) Close() {
	if s.engine != nil {
		s.engine.Outside(func() { s.closing = true })
	}
	s.cancel()
	s.running.Wait()
}

// randomID returns 40 random hex digits.
func (s *Sentinel) randomID() string {
	const digits = "0123456789abcdef"
	id := make([]byte, 40)
	for i := range id {
		id[i] = digits[s.random(len(digits))]
	}
	return string(id)
}

// random returns a number from 0 to n-1.
func (s *Sentinel) random(n int) int { return s.engine.Env().Rand.IntN(n) }

// now returns the time of the unit.
func (s *Sentinel) now() int64 {
	if s.engine == nil {
		return s.opts.Clock.Now().UnixMilli()
	}
	return s.engine.Env().Space.Now()
}

// since returns the milliseconds since a time.
func (s *Sentinel) since(t int64) int64 { return s.now() - t }

// The frequency of the timer is between these, in Hz. It is drawn anew after each tick, so
// that Sentinels which start together do not stay together.
const (
	leastHz = 10
	mostHz  = 20
)

// runTimer ticks until Close.
func (s *Sentinel) runTimer() {
	timer := s.opts.Clock.NewTimer()
	defer timer.Stop()
	wait := time.Duration(0)
	for {
		timer.Reset(s.opts.Clock.Now().Add(wait))
		select {
		case <-s.ctx.Done():
			return
		case <-timer.C():
		case <-s.woken:
		}
		s.engine.Outside(func() {
			if !s.crashed {
				s.tick()
			}
			s.announceMeetings()
			wait = time.Second / time.Duration(leastHz+s.random(mostHz-leastHz))
			if s.hurried > 0 {
				wait = hurriedTick
			}
		})
	}
}

// tick does what is due for each primary, its replicas and its Sentinels.
func (s *Sentinel) tick() {
	s.checkTilt()
	for _, m := range s.masters {
		s.handleMaster(m)
		for _, r := range m.replicas {
			s.handleOther(&r.instance)
		}
		for _, p := range m.peers {
			s.handleOther(&p.instance)
		}
		if m.failover.state == updateConfig {
			s.switchToPromoted(m)
		}
	}
}

func (s *Sentinel) handleMaster(m *master) {
	s.reconnect(&m.instance)
	s.sendPeriodic(&m.instance)
	if s.acts() {
		s.checkSubjectively(&m.instance)
		s.checkObjectively(m)
		if s.startFailoverIfNeeded(m) {
			s.askPeers(m, true)
		}
		s.advanceFailover(m)
		s.askPeers(m, false)
	}
}

// handleOther does what is due for a replica or another Sentinel.
func (s *Sentinel) handleOther(i *instance) {
	s.reconnect(i)
	s.sendPeriodic(i)
	if s.acts() {
		s.checkSubjectively(i)
	}
}

// checkTilt begins tilt mode when the clock has gone back, or too much time has passed since
// the last tick: the process or the machine stood still, so every time looks late. In tilt
// mode a Sentinel observes and decides nothing.
func (s *Sentinel) checkTilt() {
	if passed := s.since(s.previous); passed < 0 || passed > s.periods.tiltTrigger {
		s.tilted, s.tiltedAt = true, s.now()
		s.warn("+tilt", "#tilt mode entered")
	}
	s.previous = s.now()
}

// acts reports whether the Sentinel may decide anything. It ends tilt mode in time.
func (s *Sentinel) acts() bool {
	if !s.tilted {
		return true
	}
	if s.since(s.tiltedAt) < s.periods.tilt {
		return false
	}
	s.tilted = false
	s.warn("-tilt", "#tilt mode exited")
	return true
}

// periods are the times of SENTINEL DEBUG, in ms.
type periods struct {
	info, ping, ask, publish                int64
	downAfter, failoverTimeout              int64 // of a new primary
	tiltTrigger, tilt                       int64
	minReconnect, election                  int64
	replicaReconf, scriptRuntime, scriptTry int64 // shown only
}

func defaultPeriods() periods {
	return periods{
		info: 10_000, ping: 1000, ask: 1000, publish: 2000,
		downAfter: 30_000, failoverTimeout: 180_000,
		tiltTrigger: 2000, tilt: 30_000,
		minReconnect: 15_000, election: 10_000,
		replicaReconf: 10_000, scriptRuntime: 60_000, scriptTry: 30_000,
	}
}
