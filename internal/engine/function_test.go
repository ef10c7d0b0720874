package engine

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/lockredis/lockredis/expiry"
	"github.com/lockredis/lockredis/internal/redistest"
)

func loadFunction(t *testing.T, e *Engine, list ...string) {
	t.Helper()
	s, _ := connect(e)
	code := "#!lua name=lib\n" + strings.Join(list, "\n")
	expectReply(t, send(e, s, "FUNCTION", "LOAD", code), "$3\r\nlib\r\n")
}

func TestALibraryThatLoopsEndsThoughTheClockStandsStill(t *testing.T) {
	redistest.SkipUnlessWhole(t) // the limit of the load is half a second of real time
	redistest.SkipUnderRaceDetector(t)
	e, _ := newClocked(t)
	s, _ := connect(e)
	got := send(e, s, "FUNCTION", "LOAD", "#!lua name=lib\nwhile true do end")
	expectReply(t, got, "-ERR Error registering functions: ERR FUNCTION LOAD timeout\r\n")
}

// TestALongFunctionIsBusyByTheEnginesClock moves a manual clock while a function runs.
func TestALongFunctionIsBusyByTheEnginesClock(t *testing.T) {
	e, clock := newClocked(t)
	loadFunction(t, e, "redis.register_function{function_name='spin', "+
		"callback=function() while true do end end, flags={'no-writes'}}")
	s, p := connect(e)
	other, _ := connect(e)
	ended := make(chan struct{})
	e.env.Config.BusyReply.Store(5000)
	go func() {
		defer close(ended)
		e.Do(&Caller{}, func() {
			clock.Advance(time.Minute) // before the function starts: it does not count
			e.Execute(s, words("FCALL_RO", "spin", "1", "k", "a"))
		})
	}()
	asked := make(chan string)
	go func() { asked <- send(e, other, "GET", "k") }()
	for {
		clock.Advance(time.Second)
		select {
		case got := <-asked:
			if strings.HasPrefix(got, "$-1") { // asked before the function has begun
				go func() { asked <- send(e, other, "GET", "k") }()
				continue
			}
			expectReply(t, got, "-BUSY Redis is busy running a script. "+
				"You can only call FUNCTION KILL or SHUTDOWN NOSAVE.\r\n")
		default:
			runtime.Gosched()
			continue
		}
		break
	}
	clock.Advance(time.Minute) // it does not count as the time of the next command
	stats := send(e, other, "FUNCTION", "STATS")
	const running = "*6\r\n$4\r\nname\r\n$4\r\nspin\r\n$7\r\ncommand\r\n" +
		"*5\r\n$8\r\nFCALL_RO\r\n$4\r\nspin\r\n$1\r\n1\r\n$1\r\nk\r\n$1\r\na\r\n$11\r\nduration_ms\r\n:"
	if !strings.Contains(stats, running) {
		t.Errorf("FUNCTION STATS: %q", stats)
	}
	expectReply(t, send(e, other, "SCRIPT", "KILL"), "-BUSY Redis is busy running a script. "+
		"You can only call FUNCTION KILL or SHUTDOWN NOSAVE.\r\n")
	expectReply(t, send(e, other, "FUNCTION", "KILL"), "+OK\r\n")
	<-ended
	if info := send(e, other, "INFO", "commandstats"); !strings.Contains(info, "cmdstat_function|stats:calls=1,usec=0,") {
		t.Errorf("INFO commandstats: %q", info)
	}
	expectReply(t, p.take(), ""+
		"-ERR Script killed by user with SCRIPT KILL... script: spin, on @user_function:2.\r\n")
	expectReply(t, send(e, other, "FUNCTION", "KILL"),
		"-NOTBUSY No scripts in execution right now.\r\n")
}

func TestNothingExpiresHalfwayThroughAFunction(t *testing.T) {
	e, clock := newClocked(t)
	loadFunction(t, e, "redis.register_function('f', function(keys) redis.call('lastsave') "+
		"return {redis.call('exists', keys[1]), redis.call('pttl', keys[1])} end)")
	s, _ := connect(e)
	send(e, s, "SET", "k", "x", "PX", "10")
	e.env.Server = &turningHost{clock: clock}
	expectReply(t, send(e, s, "FCALL", "f", "1", "k"), "*2\r\n:1\r\n:10\r\n")
	expectReply(t, send(e, s, "EXISTS", "k"), ":0\r\n")
}

func TestARestartKeepsFunctionsWithTheKeys(t *testing.T) {
	e, _ := newClocked(t)
	loadFunction(t, e, "redis.register_function('f', function() return 1 end)")
	for _, tc := range []struct {
		keep bool
		want string
	}{{true, ":1\r\n"}, {false, "-ERR Function not found\r\n"}} {
		e.Kit().Restart(tc.keep)
		s, _ := connect(e)
		expectReply(t, send(e, s, "FCALL", "f", "0"), tc.want)
	}
}

// BenchmarkLockFunction is BenchmarkLockScript with the script as a function.
func BenchmarkLockFunction(b *testing.B) {
	e := newTestEngine(expiry.System())
	s, out := newTestSession(e)
	sha := loadLockScript(b, e)
	script, _ := e.env.Scripts.Lookup([]byte(sha))
	code := "#!lua name=lib\nredis.register_function('lock', function(KEYS, ARGV) " +
		script.Body() + "\nend)"
	var caller Caller
	e.Do(&caller, func() { e.Execute(s, words("FUNCTION", "LOAD", code)) })
	out.written = 0
	args := words("FCALL", "lock", "1", "lock:1", "30000", benchOwner)
	unit := func() { e.Execute(s, args) }
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		e.Do(&caller, unit)
	}
	if out.written != 5*b.N {
		b.Fatalf("%d bytes of replies", out.written)
	}
}

// The figures are from redis-server 7.0.15. There is no vector, because it may die of this.
func TestAFlushInTheBackgroundCountsMoreThan64Functions(t *testing.T) {
	e, _ := newClocked(t)
	s, _ := connect(e)
	for _, test := range []struct{ functions, option, counted string }{
		{"64", "ASYNC", "0"}, {"65", "SYNC", "0"}, {"65", "ASYNC", "65"},
	} {
		send(e, s, "FUNCTION", "LOAD", "#!lua name=lib\nfor i = 1, "+test.functions+
			" do redis.register_function('f' .. i, function() end) end")
		expectReply(t, send(e, s, "FUNCTION", "FLUSH", test.option), "+OK\r\n")
		if info := send(e, s, "INFO", "memory"); !strings.Contains(info, "lazyfreed_objects:"+test.counted+"\r\n") {
			t.Errorf("FLUSH %s of %s functions: lazyfreed_objects is not %s", test.option, test.functions, test.counted)
		}
	}
}
