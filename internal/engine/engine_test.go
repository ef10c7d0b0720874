package engine

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockredis/lockredis/expiry"
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/nohost"
	"github.com/lockredis/lockredis/resp"
)

// tape is a connection that records its output and counts its wake-ups.
type tape struct {
	mu    sync.Mutex
	out   strings.Builder
	woken int
	wrote chan struct{} // receives after each write
}

func (p *tape) Write(b []byte) bool {
	p.mu.Lock()
	p.out.Write(b)
	p.mu.Unlock()
	select {
	case p.wrote <- struct{}{}:
	default:
	}
	return true
}

func (p *tape) Kill()                          {}
func (p *tape) Wake()                          { p.woken++ }
func (p *tape) Sizes(bool) (b command.Buffers) { return b }

// take returns the output since the last call.
func (p *tape) take() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.out.String()
	p.out.Reset()
	return s
}

// await waits for output.
func (p *tape) await(t *testing.T) string {
	t.Helper()
	select {
	case <-p.wrote:
		return p.take()
	case <-time.After(10 * time.Second):
		t.Fatal("nothing was written")
		return ""
	}
}

var epoch = time.UnixMilli(1_700_000_000_000)

// newClocked returns a running engine on a manual clock.
func newClocked(t *testing.T) (*Engine, *expiry.Manual) {
	clock := expiry.NewManual(epoch)
	e := newTestEngine(clock)
	e.Start()
	t.Cleanup(e.Close)
	return e, clock
}

func connect(e *Engine) (*command.Session, *tape) {
	p := &tape{wrote: make(chan struct{}, 1)}
	s := &command.Session{Conn: p}
	e.Do(&Caller{}, func() { e.Join(s) })
	return s, p
}

// send runs a command, given as words, and returns the output that it wrote at once.
func send(e *Engine, s *command.Session, list ...string) string {
	e.Do(&Caller{}, func() { e.Execute(s, words(list...)) })
	p := s.Conn.(*tape)
	select {
	case <-p.wrote:
	default:
	}
	return p.take()
}

func expectReply(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Fatalf("%q, want %q", got, want)
	}
}

func TestAKeyExpiresAtItsMillisecondAndItsEventIsSent(t *testing.T) {
	e, clock := newClocked(t)
	s, _ := connect(e)
	listener, heard := connect(e)
	send(e, s, "CONFIG", "SET", "notify-keyspace-events", "Ex")
	send(e, listener, "SUBSCRIBE", "__keyevent@0__:expired")
	send(e, s, "SET", "b", "x", "PX", "1001")
	send(e, s, "SET", "a", "x", "PX", "1000")
	clock.Advance(999 * time.Millisecond)
	expectReply(t, send(e, s, "PTTL", "a"), ":1\r\n")
	clock.Advance(time.Millisecond)
	got := heard.await(t)
	if !strings.Contains(got, "$1\r\na\r\n") || strings.Contains(got, "$1\r\nb\r\n") {
		t.Fatalf("heard %q", got)
	}
	expectReply(t, send(e, s, "DBSIZE"), ":1\r\n")
}

func TestNothingExpiresHalfwayThroughAScript(t *testing.T) {
	e, clock := newClocked(t)
	s, _ := connect(e)
	send(e, s, "SET", "k", "x", "PX", "10")
	e.env.Server = &turningHost{clock: clock}
	const script = "redis.call('lastsave') return {redis.call('exists','k'), redis.call('pttl','k')}"
	got := send(e, s, "EVAL", script, "0")
	expectReply(t, got, "*2\r\n:1\r\n:10\r\n")
	expectReply(t, send(e, s, "EXISTS", "k"), ":0\r\n")
}

func TestTIMEReadsTheClockHalfwayThroughAScript(t *testing.T) {
	e, clock := newClocked(t)
	s, _ := connect(e)
	e.env.Server = &turningHost{clock: clock}
	const script = "local a = redis.call('time') redis.call('lastsave') " +
		"local b = redis.call('time') return {b[1] - a[1], b[2] - a[2]}"
	got := send(e, s, "EVAL", script, "0")
	expectReply(t, got, "*2\r\n:60\r\n:0\r\n")
	send(e, s, "MULTI")
	send(e, s, "TIME")
	send(e, s, "LASTSAVE")
	send(e, s, "TIME")
	want := "*3\r\n*2\r\n$10\r\n1700000060\r\n$1\r\n0\r\n:0\r\n" +
		"*2\r\n$10\r\n1700000120\r\n$1\r\n0\r\n"
	expectReply(t, send(e, s, "EXEC"), want)
}

// turningHost steps the clock by a minute when LASTSAVE asks for its start time.
type turningHost struct {
	nohost.Host
	clock *expiry.Manual
}

func (h *turningHost) Identity() command.Identity {
	h.clock.Advance(time.Minute)
	return command.Identity{}
}

// fillingHost reports one byte more at each call of Buffers.
type fillingHost struct {
	nohost.Host
	used int64
}

func (h *fillingHost) Buffers() int64 {
	h.used++
	return h.used
}

func TestAUnitThatHasBegunIsNotRefusedForItsOwnMemory(t *testing.T) {
	e, clock := newClocked(t)
	s, _ := connect(e)
	const script = "redis.call('get','k') return redis.call('set','k','v')"
	send(e, s, "MULTI")
	send(e, s, "EVAL", script, "0")
	send(e, s, "SET", "k", "v")
	send(e, s, "EVAL", script, "0")
	e.env.Config.MaxMemory = command.StartupBytes + memoryDoor{door{e}}.Overhead() + 1
	e.attend()
	e.env.Server = &fillingHost{}
	expectReply(t, send(e, s, "EXEC"), "*3\r\n+OK\r\n+OK\r\n+OK\r\n")
	e.env.Config.MaxMemory = command.StartupBytes + memoryDoor{door{e}}.Overhead() + 1
	e.attend()
	e.env.Server = &fillingHost{}
	clock.Advance(time.Second)
	expectReply(t, send(e, s, "EVAL", script, "0"), "+OK\r\n")
	if got := send(e, s, "EVAL", script, "0"); !strings.HasPrefix(got, "-OOM ") {
		t.Errorf("over the limit from the start: %q", got)
	}
}

func TestATransactionIsOneUnitOfTime(t *testing.T) {
	e, _ := newClocked(t)
	s, _ := connect(e)
	send(e, s, "MULTI")
	send(e, s, "PEXPIRE", "k", "1")
	send(e, s, "SET", "k", "x", "PX", "7")
	send(e, s, "PTTL", "k")
	expectReply(t, send(e, s, "EXEC"), "*3\r\n:0\r\n+OK\r\n:7\r\n")
}

func TestABlockingCommandEndsAtItsDeadlineByTheClock(t *testing.T) {
	e, clock := newClocked(t)
	s, p := connect(e)
	expectReply(t, send(e, s, "BLPOP", "q", "1.5"), "")
	clock.Advance(1499 * time.Millisecond)
	expectReply(t, p.take(), "")
	clock.Advance(time.Millisecond)
	expectReply(t, p.await(t), "*-1\r\n")
	e.Do(&Caller{}, func() {
		if s.Parked != nil || p.woken != 1 {
			t.Errorf("still parked, or woken %d times", p.woken)
		}
	})
}

func TestParkedClientsAreServedInArrivalOrderAndLeaveNoQueue(t *testing.T) {
	e, _ := newClocked(t)
	pusher, _ := connect(e)
	first, got1 := connect(e)
	second, got2 := connect(e)
	send(e, first, "BLPOP", "a", "q", "0")
	send(e, second, "BLPOP", "q", "0")
	expectReply(t, send(e, pusher, "RPUSH", "q", "1", "2", "3"), ":3\r\n")
	expectReply(t, got1.take(), "*2\r\n$1\r\nq\r\n$1\r\n1\r\n")
	expectReply(t, got2.take(), "*2\r\n$1\r\nq\r\n$1\r\n2\r\n")
	if len(e.parking.queues) != 0 {
		t.Fatalf("queues left: %v", e.parking.queues)
	}
}

func TestAScriptThatPushesAndPopsServesNoWaiter(t *testing.T) {
	e, _ := newClocked(t)
	s, _ := connect(e)
	waiter, got := connect(e)
	send(e, waiter, "BLPOP", "q", "0")
	send(e, s, "EVAL", "redis.call('rpush','q','x') redis.call('lpop','q')", "0")
	expectReply(t, got.take(), "")
	send(e, s, "EVAL", "redis.call('rpush','q','y')", "0")
	expectReply(t, got.take(), "*2\r\n$1\r\nq\r\n$1\r\ny\r\n")
}

func TestAnExpiredWatchedKeyMakesEXECFail(t *testing.T) {
	e, clock := newClocked(t)
	s, _ := connect(e)
	send(e, s, "SET", "k", "x", "PX", "10")
	send(e, s, "WATCH", "k")
	send(e, s, "MULTI")
	send(e, s, "PING")
	clock.Advance(10 * time.Millisecond)
	expectReply(t, send(e, s, "EXEC"), "*-1\r\n")
}

func TestASessionThatLeavesIsRemovedEverywhere(t *testing.T) {
	e, _ := newClocked(t)
	s, _ := connect(e)
	send(e, s, "WATCH", "k")
	send(e, s, "SUBSCRIBE", "c")
	parked, _ := connect(e)
	send(e, parked, "BLPOP", "q", "5")
	e.Do(&Caller{}, func() {
		e.Leave(s)
		e.Leave(parked)
		e.Leave(parked)
	})
	if len(e.watches.index) != 0 || !e.env.PubSub.Idle() || e.Connections() != 0 ||
		len(e.parking.queues) != 0 || e.parking.deadlines.Len() != 0 {
		t.Fatal("a room still holds something of the sessions")
	}
}

func TestAPanicInAHandlerIsAnErrorReplyAndTheServerLives(t *testing.T) {
	e, _ := newClocked(t)
	s, _ := connect(e)
	e.env.Table.Own()
	ping := e.env.Table.Lookup([]byte("ping"))
	run := ping.Run
	ping.Run = func(*command.Ctx, resp.Args) resp.Reply { panic("broken") }
	expectReply(t, send(e, s, "PING"), "-ERR internal error\r\n")
	got := send(e, s, "EVAL", "return redis.call('ping')", "0")
	if !strings.HasPrefix(got, "-ERR internal error") {
		t.Fatalf("%q", got)
	}
	ping.Run = run
	expectReply(t, send(e, s, "PING"), "+PONG\r\n")
	expectReply(t, send(e, s, "EVAL", "return redis.call('ping')", "0"), "+PONG\r\n")
}

func TestAPanicWhileAParkedClientIsServedEndsItsWait(t *testing.T) {
	e, _ := newClocked(t)
	s, _ := connect(e)
	waiter, got := connect(e)
	send(e, waiter, "BLPOP", "q", "0")
	waiter.Parked.Serve = func(*command.Ctx, []byte) (resp.Reply, bool) { panic("broken") }
	expectReply(t, send(e, s, "RPUSH", "q", "x"), ":1\r\n")
	expectReply(t, got.take(), "-ERR internal error\r\n")
	expectReply(t, send(e, waiter, "LLEN", "q"), ":1\r\n")
}

func TestTheNumberOfErrorClassesIsLimited(t *testing.T) {
	e, _ := newClocked(t)
	s, _ := connect(e)
	send(e, s, "EVAL", "for i = 1, 1000 do redis.pcall('eval') end", "0")
	for i := range 200 {
		send(e, s, "EVAL", "return redis.error_reply('CLASS'..ARGV[1]..' x')", "0", strconv.Itoa(i))
	}
	if n := len(e.env.Stats.Errors); n != maxErrorClasses {
		t.Fatalf("%d classes", n)
	}
}

func TestReplySkipSilencesOneCommand(t *testing.T) {
	e, _ := newClocked(t)
	s, _ := connect(e)
	expectReply(t, send(e, s, "CLIENT", "REPLY", "SKIP"), "")
	expectReply(t, send(e, s, "PING"), "")
	expectReply(t, send(e, s, "PING"), "+PONG\r\n")
	expectReply(t, send(e, s, "CLIENT", "REPLY", "OFF"), "")
	expectReply(t, send(e, s, "PING"), "")
	expectReply(t, send(e, s, "CLIENT", "REPLY", "ON"), "+OK\r\n")
}

func TestARenamedCommandIsFoundUnderItsNewNameOnly(t *testing.T) {
	e, _ := newClocked(t)
	s, _ := connect(e)
	table := e.env.Table
	if !table.Rename("PING", "gnip") || !table.Rename("flushall", "") || table.Rename("nothing", "x") {
		t.Fatal("Rename")
	}
	expectReply(t, send(e, s, "GNIP"), "+PONG\r\n")
	expectReply(t, send(e, s, "PING"), "-ERR unknown command 'PING', with args beginning with: \r\n")
	expectReply(t, send(e, s, "FLUSHALL"),
		"-ERR unknown command 'FLUSHALL', with args beginning with: \r\n")
}

func TestMaxMemoryRefusesWritesOnly(t *testing.T) {
	e, _ := newClocked(t)
	s, _ := connect(e)
	e.env.Config.MaxMemory = 100
	e.attend()
	expectReply(t, send(e, s, "SET", "a", "1"),
		"-OOM command not allowed when used memory > 'maxmemory'.\r\n")
	expectReply(t, send(e, s, "GET", "a"), "$-1\r\n")
	expectReply(t, send(e, s, "DEL", "a"), ":0\r\n")
}

func TestSessionsAreVisitedInOrderWhileSomeLeave(t *testing.T) {
	e := newTestEngine(expiry.System())
	var all []*command.Session
	for range 200 {
		s, _ := newTestSession(e)
		all = append(all, s)
	}
	e.Do(&Caller{}, func() {
		for i, s := range all {
			if i%10 != 3 {
				e.Leave(s)
			}
		}
	})
	newTestSession(e)
	e.Do(&Caller{}, func() {
		var ids []int64
		e.sessions.Each(func(s *command.Session) bool {
			if ids = append(ids, s.ID); len(ids) == 1 {
				e.Leave(all[13])
			}
			return true
		})
		// Ids begin at 3; 16 left while the walk was at 6.
		want := []int64{6}
		for id := int64(26); id <= 196; id += 10 {
			want = append(want, id)
		}
		if want = append(want, 203); !slices.Equal(ids, want) {
			t.Errorf("visited %d", ids)
		}
		if len(e.sessions.order) > 100 {
			t.Errorf("%d seats for %d sessions", len(e.sessions.order), e.sessions.open)
		}
		if err := e.Check(); err != nil {
			t.Error(err)
		}
	})
}

func TestAPausedCronLeavesKeysThatExpireOnAccess(t *testing.T) {
	e, clock := newClocked(t)
	s, _ := connect(e)
	e.Outside(func() { e.timer.PauseCron(true) })
	send(e, s, "SET", "a", "x", "PX", "10")
	send(e, s, "SET", "b", "x", "PX", "10")
	clock.Advance(time.Second)
	expectReply(t, send(e, s, "DBSIZE"), ":2\r\n")
	expectReply(t, send(e, s, "GET", "a"), "$-1\r\n")
	expectReply(t, send(e, s, "DBSIZE"), ":1\r\n")
	e.Outside(func() { e.timer.PauseCron(false) })
	clock.Advance(time.Second)
	send(e, s, "PING")
	expectReply(t, send(e, s, "DBSIZE"), ":0\r\n")
}

// The interruption does not wait for a thousand instructions: a few commands may take seconds.
func TestInterruptEndsAScriptAfterItsCommand(t *testing.T) {
	e, _ := newClocked(t)
	s, _ := connect(e)
	e.Interrupt()
	if reply := send(e, s, "EVAL", "for i=1,100 do redis.call('INCR','n') end", "0"); reply[0] != '-' {
		t.Errorf("the script ended with %q", reply)
	}
	expectReply(t, send(e, s, "GET", "n"), "$1\r\n1\r\n")
}
