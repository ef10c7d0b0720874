package engine

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/config"
	"github.com/lockredis/lockredis/internal/journal"
	"github.com/lockredis/lockredis/internal/nohost"
)

// loadHost calls during after each key of a load.
type loadHost struct {
	nohost.Host
	during func()
}

func (h loadHost) Sleep(int64) { h.during() }

// newLoaded returns an engine with a file of three keys: a, b and c. Each of them is larger than
// the interval between two safe points of a load.
func newLoaded(t *testing.T) *Engine {
	t.Helper()
	e, _ := newClocked(t)
	cfg := e.env.Config
	cfg.RDB.File, cfg.RDB.Program = filepath.Join(t.TempDir(), "dump.rdb"), true
	cfg.RDB.Compress, cfg.RDB.LoadInterval, cfg.RDB.LoadDelay = false, 1024, 1
	cfg.DebugCommand = config.AccessYes
	s, _ := connect(e)
	for _, key := range []string{"a", "b", "c"} {
		send(e, s, "SET", key, strings.Repeat("x", 5000))
	}
	e.Do(&Caller{}, func() {
		if err := e.files.Now(); err != nil {
			t.Fatal(err)
		}
	})
	return e
}

// reload runs DEBUG RELOAD and, while it reads the file, the commands that steps has for a client
// of its own. It returns their replies.
func reload(
	t *testing.T, e *Engine, steps func(ask func(s *command.Session, line string)),
) (replies []string) {
	t.Helper()
	results, begun := make(chan []string, 1), false
	e.env.Server = loadHost{during: func() {
		if begun {
			return
		}
		begun = true
		go func() { // at the safe points before the other keys
			var got []string
			steps(func(s *command.Session, line string) {
				got = append(got, send(e, s, strings.Fields(line)...))
			})
			results <- got
		}()
		for e.callers.gate.state.Load() != queued {
			runtime.Gosched()
		}
	}}
	s, _ := connect(e)
	expectReply(t, send(e, s, "DEBUG", "RELOAD", "NOSAVE"), "+OK\r\n")
	return <-results
}

const loadingReply = "-LOADING Redis is loading the dataset in memory\r\n"

func TestCommandsAreRefusedWhileAFileIsRead(t *testing.T) {
	e := newLoaded(t)
	s, _ := connect(e)
	queued, _ := connect(e)
	send(e, queued, "MULTI")
	send(e, queued, "GET", "a")
	var got, exec []string
	reload(t, e, func(func(*command.Session, string)) {
		e.Do(&Caller{}, func() {
			run := func(s *command.Session, lines ...string) (replies []string) {
				for _, line := range lines {
					e.Execute(s, words(strings.Fields(line)...))
					replies = append(replies, s.Conn.(*tape).take())
				}
				return replies
			}
			got = run(s, "PING", "NOSUCH", "GET", "EVAL return", "ECHO x", "DEBUG RELOAD", "EXEC",
				"MULTI", "PUBLISH c m", "EXEC")
			exec = run(queued, "EXEC")
		})
	})
	want := []string{
		loadingReply, "-ERR unknown command 'NOSUCH', with args beginning with: \r\n",
		"-ERR wrong number of arguments for 'get' command\r\n",
		"-ERR wrong number of arguments for 'eval' command\r\n",
		"$1\r\nx\r\n", loadingReply, "-ERR EXEC without MULTI\r\n", "+OK\r\n", "+QUEUED\r\n", "*1\r\n:0\r\n",
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("command %d got %q, want %q", i, got[i], want[i])
		}
	}
	expectReply(t, exec[0], "-EXECABORT Transaction discarded because of: "+loadingReply[1:])
	expectReply(t, send(e, s, "DBSIZE"), ":3\r\n")
}

func TestASecretIsHiddenWhenItsCommandIsRefusedWhileAFileIsRead(t *testing.T) {
	e := newLoaded(t)
	s, _ := connect(e)
	send(e, s, "CONFIG", "SET", "slowlog-log-slower-than", "0")
	reply := reload(t, e, func(ask func(*command.Session, string)) {
		ask(s, "CONFIG SET appendonly no requirepass secret")
	})[0]
	expectReply(t, reply, loadingReply)
	log := send(e, s, "SLOWLOG", "GET", "-1")
	if !strings.Contains(log, "requirepass") || strings.Contains(log, "secret") {
		t.Errorf("SLOWLOG GET shows %q", log)
	}
}

func TestInfoTellsHowFarAFileIsRead(t *testing.T) {
	e := newLoaded(t)
	s, _ := connect(e)
	info := reload(t, e, func(ask func(*command.Session, string)) { ask(s, "INFO persistence") })[0]
	for _, want := range []string{
		"\r\nloading:1\r\n", "\r\nloading_start_time:", "\r\nloading_eta_seconds:1\r\n",
	} {
		if !strings.Contains(info, want) {
			t.Errorf("INFO has no %q: %s", want, info)
		}
	}
	info = send(e, s, "INFO", "persistence")
	if strings.Contains(info, "loading_") || !strings.Contains(info, "\r\nloading:0\r\n") {
		t.Errorf("after the load INFO has %s", info)
	}
}

func TestKeysOfAFileAreNoChangesForWatchersEventsAndMonitors(t *testing.T) {
	e := newLoaded(t)
	s, _ := connect(e)
	monitor, shown := connect(e)
	heard, messages := connect(e)
	var loaded []string
	e.Outside(func() {
		e.ReadJournal(func(entry *journal.Entry) {
			loaded = append(loaded, describeEntry(entry)+" by "+reasons[entry.Cause.Reason])
		}, journal.KeyLoaded, journal.KeyAdded, journal.Changed)
	})
	send(e, s, "CONFIG", "SET", "notify-keyspace-events", "KEA")
	send(e, heard, "PSUBSCRIBE", "*")
	send(e, monitor, "MONITOR")
	reload(t, e, func(ask func(*command.Session, string)) { ask(s, "WATCH c") })
	expectReply(t, shown.take()+messages.take(), "")
	slices.Sort(loaded)
	expectReply(t, strings.Join(loaded, ", "), "loaded:0:a by load, loaded:0:b by load, loaded:0:c by load")
	send(e, s, "MULTI")
	expectReply(t, send(e, s, "EXEC"), "*0\r\n")
	if got := send(e, s, "CONFIG", "GET", "notify-keyspace-events"); !strings.Contains(got, "AKE") {
		t.Errorf("the events are %q", got)
	}
}

func TestTheTimeOfALoadStandsStill(t *testing.T) {
	e := newLoaded(t)
	clock := e.clock.(interface{ Advance(time.Duration) })
	s, _ := connect(e)
	send(e, s, "SET", "z", strings.Repeat("x", 5000), "PX", "1000")
	e.Do(&Caller{}, func() { _ = e.files.Now() })
	clock.Advance(999 * time.Millisecond)
	got := reload(t, e, func(ask func(*command.Session, string)) {
		clock.Advance(time.Hour)
		ask(s, "TIME")
	})
	if len(got) != 1 || got[0] == loadingReply {
		t.Errorf("TIME answers %q", got)
	}
	if info := send(e, s, "INFO", "persistence"); !strings.Contains(info, "rdb_last_load_keys_loaded:4\r\n") {
		t.Errorf("not all keys were loaded: %s", info)
	}
}

func TestNothingIsSavedAtTheEndWhileAFileIsRead(t *testing.T) {
	for name, end := range map[string]func(e *Engine, s *command.Session){
		"a signal": func(e *Engine, _ *command.Session) {
			if err := e.files.SaveAtEnd(); err != nil {
				t.Error(err)
			}
		},
		"SHUTDOWN": func(e *Engine, s *command.Session) { send(e, s, "SHUTDOWN", "SAVE") },
	} {
		e := newLoaded(t)
		s, _ := connect(e)
		e.clock.(interface{ Advance(time.Duration) }).Advance(time.Hour)
		reload(t, e, func(func(*command.Session, string)) { end(e, s) })
		e.Do(&Caller{}, func() {
			if e.env.LastSave != epoch.Unix() {
				t.Errorf("%s: a file was written", name)
			}
		})
	}
}

// TestAKeyOfALogExpiresByItsLastDeadlineOnly has a key in the log's base whose deadline has passed, and
// a later command that removes the deadline.
func TestAKeyOfALogExpiresByItsLastDeadlineOnly(t *testing.T) {
	e, clock := newClocked(t)
	cfg := e.env.Config
	cfg.Dir, cfg.RDB.Program, cfg.AOF.On = t.TempDir(), true, true
	folder := filepath.Join(cfg.Dir, cfg.AOF.Folder)
	s, _ := connect(e)
	send(e, s, "SET", "k", "v", "PX", "1000")
	e.Do(&Caller{}, func() {
		if err := e.files.Now(); err != nil {
			t.Fatal(err)
		}
	})
	send(e, s, "FLUSHALL")
	for _, err := range []error{
		os.Mkdir(folder, 0o755),
		os.Rename(cfg.Path(cfg.RDB.File), filepath.Join(folder, "base.rdb")),
		os.WriteFile(filepath.Join(folder, "incr.aof"), []byte("*2\r\n$7\r\nPERSIST\r\n$1\r\nk\r\n"), 0o600),
		os.WriteFile(filepath.Join(folder, cfg.AOF.File+".manifest"),
			[]byte("file base.rdb seq 1 type b\nfile incr.aof seq 1 type i\n"), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	clock.Advance(time.Hour)
	if err := e.files.Open(func() {}); err != nil {
		t.Fatal(err)
	}
	expectReply(t, send(e, s, "PTTL", "k"), ":-1\r\n")
}
