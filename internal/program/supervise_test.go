//go:build unix

package program

import (
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockredis/lockredis/internal/config"
)

func TestSystemdIsToldOfTheStartAndTheEnd(t *testing.T) {
	dir, err := os.MkdirTemp("", "notify") // a short path: the name of a socket has 100 bytes
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "s")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	t.Setenv("UPSTART_JOB", "")
	t.Setenv("NOTIFY_SOCKET", path)
	for mode, want := range map[string]string{
		"systemd": "STATUS=Redis is loading...\n STATUS=Ready to accept connections\n READY=1\n STOPPING=1\n",
		"auto":    "STATUS=Redis is loading...\n STATUS=Ready to accept connections\n READY=1\n STOPPING=1\n",
	} {
		s := newSupervisor(&config.Config{Supervised: mode}, slog.New(slog.NewTextHandler(io.Discard, nil)))
		if !s.begin() {
			t.Errorf("supervised %s: systemd does not supervise", mode)
		}
		s.ready()
		s.stopping()
		var got []string
		for range 4 {
			b := make([]byte, 100)
			n, err := conn.Read(b)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, string(b[:n]))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("supervised %s: %q", mode, got)
		}
	}
	t.Setenv("NOTIFY_SOCKET", "")
	var log strings.Builder
	for mode, want := range map[string]string{
		"no": "", "auto": "", "systemd": "NOTIFY_SOCKET not found!", "upstart": "UPSTART_JOB not found!",
	} {
		log.Reset()
		s := newSupervisor(&config.Config{Supervised: mode}, slog.New(slog.NewTextHandler(&log, nil)))
		if s.begin() {
			t.Errorf("supervised %s: a supervisor that is not there supervises", mode)
		}
		s.ready()
		if text := log.String(); (want == "") != (text == "") || !strings.Contains(text, want) {
			t.Errorf("supervised %s logs %q", mode, text)
		}
	}
}

func TestALogfileThatWasRenamedIsOpenedAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	log, err := openLog(&config.Config{LogFile: path}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	log.Warn("first")
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	log.Warn("second")
	for name, want := range map[string]string{path: "second", path + ".1": "first"} {
		if text, err := os.ReadFile(name); err != nil || !strings.Contains(string(text), want) || strings.Count(string(text), "\n") != 1 {
			t.Errorf("%s: %q, error %v", name, text, err)
		}
	}
}
