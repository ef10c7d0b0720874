package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/config"
	"github.com/lockredis/lockredis/internal/nohost"
)

func TestNoCommandRunsAfterTheLastSave(t *testing.T) {
	for _, fails := range []bool{false, true} {
		e, _ := newClocked(t)
		dir := t.TempDir()
		e.env.Config.RDB.File = filepath.Join(dir, "dump.rdb")
		if fails {
			e.env.Config.RDB.File = filepath.Join(dir, "none", "dump.rdb")
		}
		s, _ := connect(e)
		send(e, s, "INCR", "n")
		e.Do(&Caller{}, func() {
			if err := e.files.Last(); (err != nil) != fails {
				t.Errorf("the save: %v", err)
			}
		})
		want := ""
		if fails {
			want = ":2\r\n"
		}
		expectReply(t, send(e, s, "INCR", "n"), want)
		if waits := s.State() == command.Postponed; waits == fails {
			t.Errorf("the save failed: %v, the client waits: %v", fails, waits)
		}
	}
}

func TestShutdownDuringSaveWritesTheFileWithoutSavePoints(t *testing.T) {
	for _, options := range [][]string{{}, {"NOSAVE"}, {"NOW"}, {"NOSAVE", "FORCE"}} {
		e, _ := newClocked(t)
		path := filepath.Join(t.TempDir(), "dump.rdb")
		e.env.Config.RDB.File, e.env.Config.RDB.Program = path, true
		s, _ := connect(e)
		other, _ := connect(e)
		send(e, s, "SET", "k", "v")
		e.Do(&Caller{}, func() {
			e.Execute(s, words("SAVE"))
			e.Execute(other, words(append([]string{"SHUTDOWN"}, options...)...))
			if _, err := os.Stat(path); err != nil { // the goroutine of SAVE waits
				t.Errorf("%v: %v", options, err)
			}
		})
	}
}

// TestInfoCountsTheKeysOfASave changes all keys, so that the save encodes them at once.
func TestInfoCountsTheKeysOfASave(t *testing.T) {
	e, _ := newClocked(t)
	e.env.Config.RDB.File, e.env.Config.RDB.Program = filepath.Join(t.TempDir(), "dump.rdb"), true
	fillKeys(t, e, 300)
	s, tape := connect(e)
	expect := func(percent, done, all string) {
		t.Helper()
		e.Execute(s, words("INFO", "persistence"))
		info := tape.take()
		for _, field := range []string{
			"current_fork_perc:" + percent, "current_save_keys_processed:" + done, "current_save_keys_total:" + all,
		} {
			if !strings.Contains(info, field+"\r\n") {
				t.Errorf("%s is not in %s", field, info)
			}
		}
	}
	e.Do(&Caller{}, func() { // the goroutine of BGSAVE waits
		expect("0.00", "0", "0")
		e.Execute(s, words("BGSAVE"))
		expect("0.00", "0", "300")
		for i := range 300 {
			e.Execute(s, words("APPEND", fmt.Sprintf("key:%06d", i), "!"))
		}
		expect("100.00", "300", "300")
	})
}

func TestResetStatForgetsTheSaves(t *testing.T) {
	e, _ := newClocked(t)
	e.env.Config.RDB.File, e.env.Config.RDB.Program = filepath.Join(t.TempDir(), "dump.rdb"), true
	s, p := connect(e)
	for range 2 {
		send(e, s, "SAVE")
		expectReply(t, p.await(t), "+OK\r\n")
	}
	if info := send(e, s, "INFO", "persistence"); !strings.Contains(info, "rdb_saves:2\r\n") {
		t.Error(info)
	}
	send(e, s, "CONFIG", "RESETSTAT")
	if info := send(e, s, "INFO", "persistence"); !strings.Contains(info, "rdb_saves:0\r\n") {
		t.Error(info)
	}
}

func TestBgrewriteaofWaitsForTheEndOfABgsave(t *testing.T) {
	e, _ := newClocked(t)
	path := filepath.Join(t.TempDir(), "dump.rdb")
	e.env.Config.RDB.File, e.env.Config.RDB.Program = path, true
	s, tape := connect(e)
	e.Do(&Caller{}, func() { // the goroutine of BGSAVE waits
		e.Execute(s, words("BGSAVE"))
		e.Execute(s, words("BGREWRITEAOF"))
	})
	expectReply(t, tape.take(), "+Background saving started\r\n+Background append only file rewriting scheduled\r\n")
	for running := true; running; {
		e.Outside(func() { running = e.files.Stats().Running })
	}
	expectReply(t, send(e, s, "BGREWRITEAOF"), "+Background append only file rewriting started\r\n")
}

// sleepyHost blocks the engine in Sleep until EndSleep.
type sleepyHost struct {
	nohost.Host
	sleeping, awake chan struct{}
}

func (h sleepyHost) Sleep(int64) {
	close(h.sleeping)
	<-h.awake
}
func (h sleepyHost) EndSleep() { close(h.awake) }

func TestASignalEndsDebugSleep(t *testing.T) {
	e, _ := newClocked(t)
	host := sleepyHost{sleeping: make(chan struct{}), awake: make(chan struct{})}
	e.env.Server = host
	e.env.Config.DebugCommand = config.AccessYes
	s, p := connect(e)
	go e.Do(&Caller{}, func() { e.Execute(s, words("DEBUG", "SLEEP", "1000")) })
	<-host.sleeping
	if err := e.files.SaveAtEnd(); err != nil {
		t.Fatal(err)
	}
	expectReply(t, p.await(t), "+OK\r\n")
}
