package engine

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/config"
	"github.com/lockredis/lockredis/internal/nohost"
	"github.com/lockredis/lockredis/internal/rdb"
)

// beginSave begins a save whose file is complete but for its name.
func beginSave(t *testing.T, e *Engine, path string) (*save, *rdb.File) {
	t.Helper()
	file, err := rdb.Create(path, true)
	if err != nil {
		t.Fatal(err)
	}
	var w *save
	e.Do(&Caller{}, func() {
		w = e.saving.begin()
		e.saving.current = w
		for w.step() {
		}
		file.Write(w.out)
	})
	return w, file
}

func TestASaveDoesNotReplaceTheFileOfALaterOne(t *testing.T) {
	e, _ := newClocked(t)
	path := filepath.Join(t.TempDir(), "dump.rdb")
	e.env.Config.RDB.File = path
	s, _ := connect(e)
	send(e, s, "SET", "k", "old")
	w, file := beginSave(t, e, path)
	send(e, s, "SET", "k", "new")
	e.Do(&Caller{}, func() {
		if err := e.saving.Now(); err != nil {
			t.Error(err)
		}
	})
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.commit(&Caller{background: true}, file); !errors.Is(err, errSaveCancelled) {
		t.Errorf("the end of the older save: %v", err)
	}
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
		t.Errorf("the file is not the later one any more: %v", err)
	}
	if files, err := os.ReadDir(filepath.Dir(path)); err != nil || len(files) != 1 {
		t.Errorf("files are left: %v %v", files, err)
	}
}

func TestFlushallEndsASave(t *testing.T) {
	e, _ := newClocked(t)
	path := filepath.Join(t.TempDir(), "dump.rdb")
	e.env.Config.RDB.File = path
	s, _ := connect(e)
	send(e, s, "SET", "k", "v")
	w, file := beginSave(t, e, path)
	send(e, s, "FLUSHALL")
	err := w.commit(&Caller{background: true}, file)
	if !errors.Is(err, errSaveCancelled) {
		t.Errorf("the end of the save: %v", err)
	}
	e.Do(&Caller{}, func() { e.saving.finish(w, err) })
	if stats := e.saving.Stats(); stats.Failed || stats.Running {
		t.Errorf("after FLUSHALL: failed %v, running %v", stats.Failed, stats.Running)
	}
	if files, err := os.ReadDir(filepath.Dir(path)); err != nil || len(files) != 0 {
		t.Errorf("files are left: %v %v", files, err)
	}
}

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
			if err := e.saving.Last(); (err != nil) != fails {
				t.Errorf("the save: %v", err)
			}
		})
		want := ""
		if fails {
			want = ":2\r\n"
		}
		expectReply(t, send(e, s, "INCR", "n"), want)
		if held := s.State() == command.Held; held == fails {
			t.Errorf("the save failed: %v, the client is held: %v", fails, held)
		}
	}
}

func TestASignalDuringSaveWritesTheFileWithoutSavePoints(t *testing.T) {
	for _, fails := range []bool{false, true} {
		e, _ := newClocked(t)
		path := filepath.Join(t.TempDir(), "dump.rdb")
		if fails {
			path = filepath.Join(path, "none", "dump.rdb")
		}
		e.env.Config.RDB.File, e.env.Config.RDB.Program = path, true
		s, _ := connect(e)
		send(e, s, "SET", "k", "v")
		e.Do(&Caller{}, func() {
			e.Execute(s, words("SAVE"))
			if err := e.saveAtEnd(); err != nil { // before the goroutine of SAVE comes into the engine
				t.Error(err)
			}
			if _, err := os.Stat(path); (err != nil) != fails {
				t.Errorf("the file: %v", err)
			}
		})
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

func TestInfoCountsTheKeysOfASave(t *testing.T) {
	e, _ := newClocked(t)
	e.env.Config.RDB.File = filepath.Join(t.TempDir(), "dump.rdb")
	fillKeys(t, e, 3*batchKeys)
	s, _ := connect(e)
	fields := []string{"current_fork_perc:", "current_save_keys_processed:", "current_save_keys_total:"}
	expect := func(values ...string) {
		t.Helper()
		info := send(e, s, "INFO", "persistence")
		for i, field := range fields {
			if !strings.Contains(info, field+values[i]+"\r\n") {
				t.Errorf("%s is not %s in %s", field, values[i], info)
			}
		}
	}
	expect("0.00", "0", "0")
	e.Do(&Caller{}, func() { e.saving.current = e.saving.begin() })
	expect("0.00", "0", "384")
	e.Do(&Caller{}, func() {
		for e.saving.current.step() {
		}
	})
	expect("100.00", "384", "384")
	e.Do(&Caller{}, func() { e.saving.finish(e.saving.current, nil) })
	expect("0.00", "0", "0")
}

func TestTheProgramRemovesWhatAKilledSaveLeft(t *testing.T) {
	for _, program := range []bool{true, false} {
		e, _ := newClocked(t)
		dir := t.TempDir()
		e.env.Config.Dir, e.env.Config.RDB.File, e.env.Config.RDB.Program = dir, "dump.rdb", program
		for range 3 {
			if _, err := rdb.Create(filepath.Join(dir, "dump.rdb"), true); err != nil {
				t.Fatal(err)
			}
		}
		other := filepath.Join(dir, "temp-0-0.rdb") // of another process
		if err := os.WriteFile(other, nil, 0o666); err != nil {
			t.Fatal(err)
		}
		want := 4
		if program {
			want = 1
		}
		if err := e.LoadFile(func() {}); err != nil {
			t.Fatal(err)
		}
		if files, err := os.ReadDir(dir); err != nil || len(files) != want {
			t.Errorf("program %v: %d files are left, want %d: %v", program, len(files), want, err)
		}
	}
}

func TestClientsOfASaveThatWasReplacedAreServed(t *testing.T) {
	e, _ := newClocked(t)
	path := filepath.Join(t.TempDir(), "dump.rdb")
	e.env.Config.RDB.File = path
	w, file := beginSave(t, e, path)
	s, tape := connect(e)
	send(e, s, "SET", "k", "v")
	e.Do(&Caller{}, func() {
		p := &command.Parked{Session: s}
		e.parking.Park(p)
		w.waiting = append(w.waiting, p)
		if err := e.saving.Now(); err != nil {
			t.Error(err)
		}
	})
	err := w.commit(&Caller{background: true}, file)
	e.Do(&Caller{}, func() { e.saving.finish(w, err) })
	expectReply(t, tape.take(), "+OK\r\n")
	if stats := e.saving.Stats(); stats.Failed || e.env.Dirty != 0 {
		t.Errorf("after a cancelled save: failed %v, %d changes", stats.Failed, e.env.Dirty)
	}
}

func TestBgrewriteaofWaitsForTheEndOfABgsave(t *testing.T) {
	e, _ := newClocked(t)
	path := filepath.Join(t.TempDir(), "dump.rdb")
	e.env.Config.RDB.File, e.env.Config.RDB.Program = path, true
	s, _ := connect(e)
	w, file := beginSave(t, e, path)
	expectReply(t, send(e, s, "BGREWRITEAOF"), "+Background append only file rewriting scheduled\r\n")
	err := w.commit(&Caller{background: true}, file)
	e.Do(&Caller{}, func() { e.saving.finish(w, err) })
	expectReply(t, send(e, s, "BGREWRITEAOF"), "+Background append only file rewriting started\r\n")
}

func TestInterruptEndsTheReadingOfAFile(t *testing.T) {
	e, _ := newClocked(t)
	e.env.Config.RDB.File, e.env.Config.RDB.Program = filepath.Join(t.TempDir(), "dump.rdb"), true
	e.Do(&Caller{}, func() {
		if err := e.saving.Now(); err != nil {
			t.Fatal(err)
		}
	})
	if err := e.LoadFile(func() {}); err != nil {
		t.Fatal(err)
	}
	e.Interrupt()
	if err := e.LoadFile(func() {}); !errors.Is(err, errInterrupted) {
		t.Errorf("LoadFile returned %v", err)
	}
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
	if err := e.SaveAtEnd(); err != nil {
		t.Fatal(err)
	}
	expectReply(t, p.await(t), "+OK\r\n")
}
