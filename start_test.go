package lockredis

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// startHeld starts a server whose Start or Serve waits in the middle of an RDB file. goOn lets it
// read the rest.
func startHeld(t *testing.T, start func(*Server) error) (srv *Server, result <-chan error, goOn func()) {
	t.Helper()
	dir := t.TempDir()
	oneKey := []byte("REDIS0010\x00\x01k\x01v\xff\x00\x00\x00\x00\x00\x00\x00\x00")
	if err := os.WriteFile(filepath.Join(dir, "dump.rdb"), oneKey, 0o600); err != nil {
		t.Fatal(err)
	}
	const aLongTime = "2147483647" // µs after the key
	srv = New(Config{Directives: map[string]string{"dir": dir, "key-load-delay": aLongTime}})
	t.Cleanup(func() { srv.Close() })
	results := make(chan error, 1)
	go func() { results <- start(srv) }()
	for srv.Addr() == "" {
		runtime.Gosched()
	}
	return srv, results, func() {
		for stateOf(srv) == starting {
			within(srv).core.Engine().Env().Server.EndSleep()
			runtime.Gosched()
		}
	}
}

func stateOf(srv *Server) state {
	srv.mu.Lock()
	defer srv.mu.Unlock()
	return srv.state
}

func TestNoMethodWaitsForAServerThatReadsItsFile(t *testing.T) {
	srv, result, goOn := startHeld(t, (*Server).Start)
	nc, err := srv.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	nc.Close()
	if _, err := srv.Listen("127.0.0.1:0"); err != nil {
		t.Errorf("Listen: %v", err)
	}
	if err := srv.Start(); !errors.Is(err, errStarted) {
		t.Errorf("a second Start: %v", err)
	}
	goOn()
	if err := <-result; err != nil {
		t.Fatal(err)
	}
}

func TestCloseAndShutdownEndTheReadingOfAFile(t *testing.T) {
	for name, end := range map[string]func(*Server){
		"Close":    func(s *Server) { s.Close() },
		"Shutdown": func(s *Server) { s.Shutdown(context.Background()) },
	} {
		srv, result, _ := startHeld(t, (*Server).Start)
		ended := make(chan struct{})
		go func() {
			end(srv)
			close(ended)
		}()
		if err := <-result; !errors.Is(err, ErrServerClosed) {
			t.Errorf("%s: Start returned %v", name, err)
		}
		<-ended
	}
}

func TestTwoServesReadTheFileOnce(t *testing.T) {
	serve := func(s *Server) error {
		ln, err := listenTCP("127.0.0.1", 0)
		if err != nil {
			return err
		}
		return s.Serve(ln)
	}
	srv, first, goOn := startHeld(t, serve)
	second := make(chan error, 1)
	go func() { second <- serve(srv) }()
	goOn()
	for len(srv.Addrs()) < 2 {
		runtime.Gosched()
	}
	srv.Close()
	for _, result := range []<-chan error{first, second} {
		if err := <-result; !errors.Is(err, ErrServerClosed) {
			t.Errorf("Serve returned %v", err)
		}
	}
}
