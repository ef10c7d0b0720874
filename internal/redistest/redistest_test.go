package redistest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/lockredis/lockredis/compat_test/wire"
	"github.com/lockredis/lockredis/internal/config"
)

func TestVersionIsTheOneThatLockredisReports(t *testing.T) {
	if Version != config.RedisVersion {
		t.Errorf("tests compare with %s, lockredis reports %s", Version, config.RedisVersion)
	}
}

func TestStartedServerAnswersAndLeavesNothingBehind(t *testing.T) {
	type starter func(testing.TB, ...string) *Server
	for name, start := range map[string]starter{"TCP": Start, "socket": StartSocket} {
		t.Run(name, func(t *testing.T) {
			var s *Server
			t.Run("run", func(t *testing.T) {
				s = start(t, "--maxclients", "77")
				v, err := s.do("CONFIG", "GET", "maxclients")
				if err != nil || v.String() != `["maxclients" "77"]` {
					t.Errorf("CONFIG GET maxclients: %s %v", v, err)
				}
			})
			if s == nil {
				t.SkipNow() // the inner test did
			}
			if c, err := wire.Dial(s.Addr); err == nil {
				c.Close()
				t.Error("the server still accepts connections after its test")
			}
			if _, err := os.Stat(s.Dir); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s is still there: %v", s.Dir, err)
			}
		})
	}
}

func TestServerThatRefusesItsDirectivesIsAnErrorWithItsLog(t *testing.T) {
	s, err := Command{Program: Find(t), Args: []string{"--no-such-directive", "1"}}.Start()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Stop()
	if err := s.Await(); err == nil || !strings.Contains(err.Error(), "no-such-directive") {
		t.Errorf("error %v", err)
	}
}

// doomed, set in the environment, makes TestServerEndsWithTheProcessThatStartedIt start
// a server, print its address and directory, and wait.
const doomed = "REDISTEST_DOOMED"

func TestServerEndsWithTheProcessThatStartedIt(t *testing.T) {
	if os.Getenv(doomed) != "" {
		s := Start(t)
		fmt.Println("server:", s.Addr, s.Dir)
		time.Sleep(time.Minute) // to be killed
		return
	}
	Find(t)
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), doomed+"=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	var addr, dir string
	for addr == "" && lines.Scan() {
		fmt.Sscanf(lines.Text(), "server: %s %s", &addr, &dir)
	}
	go io.Copy(io.Discard, out)
	cmd.Process.Kill()
	cmd.Wait()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		c, err := wire.Dial(addr)
		if err == nil {
			c.Close()
		}
		_, gone := os.Stat(dir)
		if err != nil && errors.Is(gone, fs.ErrNotExist) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("after its process died, the server: %v; its directory: %v", err, gone)
		}
	}
}

func TestATestWithoutGoroutinesSkipsUnderTheRaceDetectorOnly(t *testing.T) {
	ran := false
	t.Run("", func(t *testing.T) {
		SkipUnderRaceDetector(t)
		ran = true
	})
	if ran == RaceDetector {
		t.Errorf("it ran: %v, the race detector is there: %v", ran, RaceDetector)
	}
}

func TestAPlainRunIsShortAndStartsNoForeignProgram(t *testing.T) {
	t.Setenv("CI", "")
	for _, setting := range os.Environ() {
		if name, _, _ := strings.Cut(setting, "="); strings.HasPrefix(name, "LOCKREDIS_") {
			t.Setenv(name, "")
		}
	}
	skips := func(f func(testing.TB)) (skipped bool) {
		t.Run("", func(t *testing.T) {
			defer func() { skipped = t.Skipped() }()
			f(t)
		})
		return skipped
	}
	if !skips(Asked) || !skips(SkipUnlessWhole) || skips(SkipWhenQuick) == RaceDetector {
		t.Error("a plain run starts foreign programs, or is long")
	}
	t.Setenv("LOCKREDIS_RLOCK", "single")
	if skips(Asked) || !skips(SkipUnlessWhole) {
		t.Error("LOCKREDIS_RLOCK=single starts no foreign program, or makes the run long")
	}
	t.Setenv("LOCKREDIS_CHECK", "1")
	if skips(Asked) || skips(SkipUnlessWhole) || skips(SkipWhenQuick) {
		t.Error("LOCKREDIS_CHECK=1 starts no foreign program, or leaves the run short")
	}
}
