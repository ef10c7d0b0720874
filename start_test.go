package lockredis

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// startHeld starts a server whose Start or Serve waits in front of an RDB file. goOn lets it read
// the file.
func startHeld(t *testing.T, start func(*Server) error) (srv *Server, result <-chan error, goOn func()) {
	t.Helper()
	dir := t.TempDir()
	empty := []byte("REDIS0010\xff\x00\x00\x00\x00\x00\x00\x00\x00")
	if err := os.WriteFile(filepath.Join(dir, "dump.rdb"), empty, 0o600); err != nil {
		t.Fatal(err)
	}
	srv = New(Config{Directives: map[string]string{"dir": dir}})
	t.Cleanup(func() { srv.Close() })
	held, free := make(chan struct{}), make(chan struct{})
	go srv.core.Engine().Outside(func() {
		close(held)
		<-free
	})
	<-held
	results := make(chan error, 1)
	go func() { results <- start(srv) }()
	for stateOf(srv) != starting {
		runtime.Gosched()
	}
	return srv, results, func() { close(free) }
}

func stateOf(srv *Server) state {
	srv.mu.Lock()
	defer srv.mu.Unlock()
	return srv.state
}

func TestNoMethodWaitsForAServerThatReadsItsFile(t *testing.T) {
	srv, result, goOn := startHeld(t, (*Server).Start)
	if _, err := srv.Dial(t.Context()); !errors.Is(err, errNotStarted) {
		t.Errorf("Dial: %v", err)
	}
	if _, err := srv.Listen("127.0.0.1:0"); !errors.Is(err, errNotStarted) {
		t.Errorf("Listen: %v", err)
	}
	if addr := srv.Addr(); addr != "" {
		t.Errorf("address %q", addr)
	}
	if err := srv.Start(); !errors.Is(err, errStarted) {
		t.Errorf("a second Start: %v", err)
	}
	goOn()
	if err := <-result; err != nil {
		t.Fatal(err)
	}
	nc, err := srv.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	nc.Close()
}

func TestCloseAndShutdownEndTheReadingOfAFile(t *testing.T) {
	for name, end := range map[string]func(*Server){
		"Close":    func(s *Server) { s.Close() },
		"Shutdown": func(s *Server) { s.Shutdown(context.Background()) },
	} {
		srv, result, goOn := startHeld(t, (*Server).Start)
		ended := make(chan struct{})
		go func() {
			end(srv)
			close(ended)
		}()
		for stateOf(srv) != closed {
			runtime.Gosched()
		}
		goOn()
		if err := <-result; !errors.Is(err, ErrServerClosed) {
			t.Errorf("%s: Start returned %v", name, err)
		}
		<-ended
		if addr := srv.Addr(); addr != "" {
			t.Errorf("%s: address %q", name, addr)
		}
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
