package persist

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/config"
	"github.com/lockredis/lockredis/internal/rdb"
	"github.com/lockredis/lockredis/resp"
)

// beginSave begins a save whose file is complete but for its name.
func beginSave(t *testing.T, h *host) (*save, *rdb.File) {
	t.Helper()
	file, err := rdb.Create(h.env.Config.RDB.File, true)
	if err != nil {
		t.Fatal(err)
	}
	var w *save
	h.Outside(func() {
		w = h.files.begin(command.FileParts{})
		h.files.current = w
		for w.step() {
		}
		file.Write(w.out)
	})
	return w, file
}

func TestASaveDoesNotReplaceTheFileOfALaterOne(t *testing.T) {
	h := newHost(t)
	path := h.env.Config.RDB.File
	h.set("k", "old")
	w, file := beginSave(t, h)
	h.set("k", "new")
	h.Outside(func() {
		if err := h.files.Now(); err != nil {
			t.Error(err)
		}
	})
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.commit(file); !errors.Is(err, errSaveCancelled) {
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
	h := newHost(t)
	h.env.Config.RDB.Points = nil
	h.set("k", "v")
	w, file := beginSave(t, h)
	h.Outside(func() {
		h.env.Space.DB(0).Flush()
		h.files.Flushed()
	})
	err := w.commit(file)
	if !errors.Is(err, errSaveCancelled) {
		t.Errorf("the end of the save: %v", err)
	}
	h.Outside(func() { h.files.finish(w, err) })
	if stats := h.files.Stats(); stats.Failed || stats.Running {
		t.Errorf("after FLUSHALL: failed %v, running %v", stats.Failed, stats.Running)
	}
	if files, err := os.ReadDir(filepath.Dir(h.env.Config.RDB.File)); err != nil || len(files) != 0 {
		t.Errorf("files are left: %v %v", files, err)
	}
}

// TestTheLastSavePausesClients: the save succeeds, or fails and the server runs on.
func TestTheLastSavePausesClients(t *testing.T) {
	for _, fails := range []bool{false, true} {
		h := newHost(t)
		if fails {
			h.env.Config.RDB.File = filepath.Join(h.env.Config.RDB.File, "none", "dump.rdb")
		}
		h.Outside(func() {
			if err := h.files.Last(); (err != nil) != fails {
				t.Errorf("the save: %v", err)
			}
		})
		if h.paused == fails {
			t.Errorf("the save failed: %v, clients are paused: %v", fails, h.paused)
		}
	}
}

func TestASignalDuringSaveWritesTheFileWithoutSavePoints(t *testing.T) {
	for _, fails := range []bool{false, true} {
		h := newHost(t)
		path := h.env.Config.RDB.File
		if fails {
			path = filepath.Join(path, "none", "dump.rdb")
		}
		h.env.Config.RDB.File, h.env.Config.RDB.Points = path, nil
		h.set("k", "v")
		h.Outside(func() {
			h.files.Park(&command.Ctx{Env: &h.env, Session: &command.Session{}, DB: h.env.Space.DB(0)})
			if err := h.files.saveAtEnd(); err != nil { // before the goroutine of SAVE comes into the engine
				t.Error(err)
			}
			if _, err := os.Stat(path); (err != nil) != fails {
				t.Errorf("the file: %v", err)
			}
		})
	}
}

func TestTheKeysOfASaveAreCounted(t *testing.T) {
	h := newHost(t)
	for i := range 3 * batchKeys {
		h.set(fmt.Sprint("key:", i), "value")
	}
	expect := func(running bool, done, keys int64) {
		t.Helper()
		if s := h.files.Stats(); s.Running != running || s.KeysDone != done || s.Keys != keys {
			t.Errorf("running %v, %d of %d keys; want %v, %d of %d", s.Running, s.KeysDone, s.Keys, running, done, keys)
		}
	}
	expect(false, 0, 0)
	h.Outside(func() { h.files.current = h.files.begin(command.FileParts{}) })
	expect(true, 0, 3*batchKeys)
	h.Outside(func() { h.files.current.step() })
	expect(true, batchKeys, 3*batchKeys)
	h.Outside(func() { h.files.finish(h.files.current, nil) })
	expect(false, 0, 0)
}

func TestTheProgramRemovesWhatAKilledSaveLeft(t *testing.T) {
	for _, program := range []bool{true, false} {
		h := newHost(t)
		dir := t.TempDir()
		h.env.Config.Dir, h.env.Config.RDB.File, h.env.Config.RDB.Program = dir, "dump.rdb", program
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
		if err := h.files.Open(func() {}); err != nil {
			t.Fatal(err)
		}
		if files, err := os.ReadDir(dir); err != nil || len(files) != want {
			t.Errorf("program %v: %d files are left, want %d: %v", program, len(files), want, err)
		}
	}
}

func TestClientsOfASaveThatWasReplacedAreServed(t *testing.T) {
	h := newHost(t)
	w, file := beginSave(t, h)
	h.set("k", "v")
	h.Outside(func() {
		p := &command.Parked{Session: &command.Session{}}
		h.Park(p)
		w.waiting = append(w.waiting, p)
		if err := h.files.Now(); err != nil {
			t.Error(err)
		}
	})
	err := w.commit(file)
	h.Outside(func() { h.files.finish(w, err) })
	if h.wrote != "+OK\r\n" {
		t.Errorf("the client of SAVE got %q", h.wrote)
	}
	if stats := h.files.Stats(); stats.Failed || h.env.Dirty != 0 {
		t.Errorf("after a cancelled save: failed %v, %d changes", stats.Failed, h.env.Dirty)
	}
}

func TestTheEndOfTheServerEndsTheReadingOfAFile(t *testing.T) {
	h := newHost(t)
	h.Outside(func() {
		if err := h.files.Now(); err != nil {
			t.Fatal(err)
		}
	})
	if err := h.files.Open(func() {}); err != nil {
		t.Fatal(err)
	}
	h.ending = true
	if err := h.files.Open(func() {}); !errors.Is(err, errInterrupted) {
		t.Errorf("Open returned %v", err)
	}
}

func TestASavePointIsDueASecondAfterItsTime(t *testing.T) {
	h := newHost(t)
	now := h.env.Space.Now()
	h.env.LastSave = now / 1000
	h.env.Config.RDB.Points = []config.SavePoint{{Seconds: 60, Changes: 2}}
	h.set("k", "v")
	if at := h.files.Due(); at != 0 {
		t.Errorf("a change too few: due at %d", at)
	}
	h.set("k", "w")
	if at := h.files.Due(); at != now+61_000 {
		t.Errorf("due %d ms after the last save", at-now)
	}
	h.ending = true
	if at := h.files.Due(); at != 0 {
		t.Errorf("at the end of the server: due at %d", at)
	}
}

// TestALogIsReplayedInTheDatabasesOfItsSelects has a transaction, and one without its EXEC.
func TestALogIsReplayedInTheDatabasesOfItsSelects(t *testing.T) {
	h := newHost(t)
	cfg := h.env.Config
	cfg.Dir, cfg.AOF.On = t.TempDir(), true
	folder := filepath.Join(cfg.Dir, cfg.AOF.Folder)
	var log []byte
	for _, line := range [][]string{
		{"SET", "a", "1"}, {"SELECT", "3"}, {"MULTI"}, {"SET", "b", "2"}, {"EXEC"}, {"MULTI"}, {"SET", "c", "3"},
	} {
		log = resp.AppendCommand(log, line...)
	}
	for _, err := range []error{
		os.Mkdir(folder, 0o755),
		os.WriteFile(filepath.Join(folder, "incr.aof"), log, 0o600),
		os.WriteFile(filepath.Join(folder, cfg.AOF.File+".manifest"), []byte("file incr.aof seq 1 type i\n"), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := h.files.Open(func() {}); err != nil {
		t.Fatal(err)
	}
	if want := []string{"0 [SET a 1]", "3 [SET b 2]"}; !slices.Equal(h.lines, want) {
		t.Errorf("replayed %q, want %q", h.lines, want)
	}
	if now := h.env.Micros; now != h.clock.Now().UnixMicro() {
		t.Errorf("after the log the time is %v", time.UnixMicro(now))
	}
}
