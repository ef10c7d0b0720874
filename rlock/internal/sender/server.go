package sender

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

// server is one master, with what the client knows of it.
type server struct {
	rdb  processor
	topo *topology

	latency atomic.Int64 // ns, of the last request that was answered, see requestCmd.took
	slow    atomic.Int64 // ns, the longest latency of late; it sinks with each faster answer
	fast    atomic.Int64 // ns, the shortest latency of late; it rises with each slower answer
	probed  atomic.Bool  // a request is under way whose reply will probably come too late
	hooked  atomic.Bool  // rdb has a sendHook
	lane    lane         // for requests while the server is near
	undos   lane         // for undos otherwise

	mu       sync.Mutex // guards the fields below
	replicas int
	counted  time.Time // when replicas was asked for; zero: unknown
}

// addHook adds the sendHook after the server's first request, unless another Client
// has done that: then the hook has seen the request.
func (s *server) addHook(first *requestCmd) {
	rdb, ok := s.rdb.(*redis.Client)
	if !ok || s.hooked.Load() {
		return
	}
	if !first.hooked {
		rdb.AddHook(newSendHook(rdb))
	}
	s.hooked.Store(true)
}

// maxStale is how many broken connections the server's pools may have: go-redis has one for
// pipelines. It is more by one, because the connection that has just failed is in no pool.
func (s *server) maxStale() int {
	if rdb, ok := s.rdb.(*redis.Client); ok {
		stats := rdb.PoolStats()
		n := int(stats.TotalConns) + 1
		if p := stats.PipelineStats; p != nil {
			n += int(p.TotalConns)
		}
		return n
	}
	return 0
}

// run sends r once. With near it uses a short timeout. With asking it sends ASKING first,
// for a server that is importing the key's slot. When too few replicas confirm, it
// returns the reply together with Config.NotSynced.
func (s *server) run(ctx context.Context, r *Request, near, asking bool) (any, error) {
	replicas := 0
	if r.Replicated && s.topo.synced {
		var err error
		if replicas, err = s.countReplicas(ctx); err != nil {
			return nil, err
		}
	}
	e := evaluation{
		server: s, call: r.Call, near: near, asking: asking, replicas: replicas, written: r.written,
		callerWait: r.callerWait,
	}
	switch {
	case near:
		e.lane = &s.lane
	case r.Undo:
		e.lane = &s.undos
	}
	v, confirmed, err := e.run(ctx, false)
	if noScript(err) {
		v, confirmed, err = e.run(ctx, true)
	}
	if err != nil || replicas == 0 {
		return v, err
	}
	if confirmed < replicas {
		s.forgetReplicas()
		err = notSynced{fmt.Errorf("%w: %d of %d within %v", s.topo.cfg.NotSynced, confirmed, replicas,
			s.syncTimeout())}
	}
	return v, err
}

// syncTimeout returns how long WAIT may block. sendHook makes the timeout of go-redis
// longer for it. A client of another type has no such hook, so WAIT ends before its timeout.
func (s *server) syncTimeout() time.Duration {
	d := s.topo.cfg.SyncTimeout
	if s.hooked.Load() {
		return d
	}
	if n, ok := s.rdb.(node); ok && n.Options().ReadTimeout > 0 {
		d = min(d, n.Options().ReadTimeout*3/4)
	}
	return d
}

// evaluation is one copy of a call, together with ASKING and WAIT if they are
// needed.
type evaluation struct {
	server   *server
	call     Call
	near     bool
	lane     *lane // nil: none
	asking   bool
	replicas int // the number that must confirm
	written  *atomic.Bool
	callerWait
}

func (e evaluation) run(ctx context.Context, body bool) (v any, confirmed int, err error) {
	cmd := e.call.command(ctx, body)
	cmd.near, cmd.written = e.near, e.written
	cmd.begin()
	defer e.server.addHook(cmd)
	if e.replicas == 0 && !e.asking {
		if e.lane == nil {
			_ = e.server.rdb.Process(ctx, cmd)
		} else if err := e.lane.send(ctx, e.callerWait, cmd); err != nil {
			return nil, 0, err
		}
		v, err = result(cmd)
		e.server.measure(cmd, err)
		return v, 0, err
	}
	timeout := e.server.syncTimeout()
	if e.replicas > 0 {
		cmd.blocks = timeout
	}
	pipe := e.server.rdb.Pipeline()
	if e.asking {
		_ = pipe.Process(ctx, redis.NewStatusCmd(ctx, "asking"))
	}
	_ = pipe.Process(ctx, cmd)
	wait := redis.NewIntCmd(ctx, "wait", e.replicas, max(timeout.Milliseconds(), 1))
	if e.replicas > 0 {
		_ = pipe.Process(ctx, wait)
	}
	_, _ = pipe.Exec(ctx)
	v, err = result(cmd)
	e.server.measure(cmd, err)
	if err == nil && e.replicas > 0 {
		err = wait.Err()
	}
	return v, int(wait.Val()), err
}

// unknownLatency is the latency of a server before its first answer: it is not near.
const unknownLatency = time.Hour

// expected returns how long the server probably takes for an answer at most, 0 if that is
// unknown. Requests that wait for a connection are sent at the last moment that it
// allows, so it is more than the last answer took.
func (s *server) expected() time.Duration {
	d := time.Duration(s.slow.Load())
	if d == 0 {
		return 0
	}
	return d + max(d/2, leastMargin)
}

// leastMargin is the least margin of expected: the reply goes through two goroutines to its
// caller, on a busy machine.
const leastMargin = 5 * time.Millisecond

// measure records how fast the server has answered cmd. err is the reply's.
func (s *server) measure(cmd *requestCmd, err error) {
	if Answered(err) {
		took := int64(cmd.took())
		s.latency.Store(took)
		slow := s.slow.Load()
		s.slow.Store(max(took, slow-(slow-took)/8)) // a lost update does no harm
		fast := s.fast.Load()
		if fast == 0 {
			fast = took
		}
		s.fast.Store(min(took, fast+(took-fast)/8))
	}
}

// runAll sends the calls in one pipeline, follows redirections, and returns the
// outcomes. It sends the calls again only when the connection was broken before, and
// reports that.
func (s *server) runAll(ctx context.Context, calls []Call) (outcomes []Outcome, broken bool) {
	outcomes = make([]Outcome, len(calls))
	old := staleCopies{server: s}
	missing := s.pipeline(ctx, calls, outcomes, false)
	for old.again(outcomes[0].Err) {
		missing = s.pipeline(ctx, calls, outcomes, false)
	}
	if missing {
		s.pipeline(ctx, calls, outcomes, true)
	}
	for i, o := range outcomes {
		if o.Err != nil {
			outcomes[i].Reply, outcomes[i].Err =
				s.topo.follow(ctx, &Request{Call: calls[i]}, o.Reply, o.Err)
		}
	}
	return outcomes, old.n > 0
}

// pipeline sends calls in one pipeline and stores their outcomes. With body it
// sends only the calls with a NOSCRIPT outcome, as EVAL. missing reports whether
// the server did not know a script.
func (s *server) pipeline(
	ctx context.Context, calls []Call, outcomes []Outcome, body bool,
) (missing bool) {
	pipe := s.rdb.Pipeline()
	cmds := make([]*requestCmd, len(calls))
	for i, k := range calls {
		if !body || noScript(outcomes[i].Err) {
			cmds[i] = k.command(ctx, body)
			_ = pipe.Process(ctx, cmds[i])
		}
	}
	_, _ = pipe.Exec(ctx)
	for i, cmd := range cmds {
		if cmd != nil {
			s.addHook(cmd)
			outcomes[i].Reply, outcomes[i].Err = result(cmd)
			missing = missing || noScript(outcomes[i].Err)
		}
	}
	return missing
}

// recountReplicas is how long a number of connected replicas is used before the
// server is asked again.
const recountReplicas = time.Second

var (
	connectedSlaves = regexp.MustCompile(`(?m)^connected_slaves:(\d+)`)

	// syncing matches a replica that cannot confirm yet: its first synchronization is under way.
	syncing = regexp.MustCompile(`(?m)^slave\d+:.*\bstate=(?:wait_bgsave|send_bulk)\b`)
)

// countReplicas returns how many replicas must confirm a request: as many as
// Config.SyncReplicas, at most as many as are connected and have the data. It
// asks the server when these were fewer than must confirm.
func (s *server) countReplicas(ctx context.Context) (int, error) {
	want := s.topo.cfg.SyncReplicas
	s.mu.Lock()
	n, counted := s.replicas, s.counted
	s.mu.Unlock()
	if !counted.IsZero() && (n >= want || time.Since(counted) < recountReplicas) {
		return min(n, want), nil
	}
	info := newRequestCmd(redis.NewCmd(ctx, "info", "replication"))
	defer s.addHook(info)
	if err := s.rdb.Process(ctx, info); err != nil {
		return 0, err
	}
	n = 0
	text, _ := info.Text()
	if m := connectedSlaves.FindStringSubmatch(text); m != nil {
		n, _ = strconv.Atoi(m[1])
		n -= len(syncing.FindAllString(text, -1))
	}
	s.mu.Lock()
	s.replicas, s.counted = n, time.Now()
	s.mu.Unlock()
	return min(n, want), nil
}

// forgetReplicas makes the next countReplicas ask the server.
func (s *server) forgetReplicas() {
	s.mu.Lock()
	s.counted = time.Time{}
	s.mu.Unlock()
}
