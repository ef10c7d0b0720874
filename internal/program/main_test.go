//go:build unix

package program

import (
	"bufio"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/lockredis/lockredis/internal/redistest"
	"github.com/lockredis/lockredis/internal/testcert"
)

func TestMain(m *testing.M) {
	flag.Set("test.parallel", "8") // the scripts wait for processes; -parallel overrides it
	testscript.Main(m, map[string]func(){
		"lockredis":            main,
		"redis-server":         main,
		"redis-sentinel":       main,
		"redis-cli":            main,
		"docker-entrypoint.sh": main,
		"orphan":               orphan,
		"closestdout":          closeStdout,
	})
}

// main is the program of cmd/lockredis.
func main() { os.Exit(Main(nil)) }

// The scripts start the binary as a launcher does and check its output. The
// condition "bounded" is true when this user cannot raise a limit of open files
// after lowering it.
func TestCommandLine(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"await":       await,
			"certificate": certificate,
			"address":     address,
			"ask":         ask,
			"conf":        conf,
			"daemon":      daemonOf,
			"freeport":    freePort,
			"gone":        gone,
			"logged":      logged,
			"signal":      sendSignal,
			"systemd":     systemd,
		},
		Condition: func(cond string) (bool, error) {
			if cond != "bounded" {
				return false, fmt.Errorf("unknown condition %q", cond)
			}
			return exec.Command("sh", "-c", "ulimit -n 500 && ! ulimit -n 501").Run() == nil, nil
		},
	})
}

// orphan starts the given command and exits while it runs. The command's last
// argument names a file. orphan waits until the file has text.
func orphan() {
	command := exec.Command(os.Args[1], os.Args[2:]...)
	if err := command.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for range 20_000 {
		if info, err := os.Stat(os.Args[len(os.Args)-1]); err == nil && info.Size() > 0 {
			return
		}
		time.Sleep(5 * time.Millisecond) // the file comes from another process
	}
	os.Exit(1)
}

// closeStdout runs the command given, closes the reading end of its standard
// output after the first line, and waits for the command. It fails when the
// command fails.
func closeStdout() {
	command := exec.Command(os.Args[1], os.Args[2:]...)
	out, err := command.StdoutPipe()
	if err == nil {
		err = command.Start()
	}
	if err == nil {
		bufio.NewReader(out).ReadString('\n')
		out.Close()
		err = command.Wait()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// poll calls done until it returns true. The script fails after a minute.
func poll(ts *testscript.TestScript, what string, done func() bool) {
	for deadline := time.Now().Add(time.Minute); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			ts.Fatalf("timeout after a minute: %s", what)
		}
	}
}

// await FILE [VARIABLE] waits until a file has a text, and sets the variable to
// that text. "! await FILE" waits until the file is gone.
func await(ts *testscript.TestScript, neg bool, args []string) {
	path := ts.MkAbs(args[0])
	poll(ts, strings.Join(args, " "), func() bool {
		info, err := os.Stat(path)
		return (err == nil && info.Size() > 0) != neg
	})
	if len(args) > 1 {
		ts.Setenv(args[1], strings.TrimSpace(ts.ReadFile(args[0])))
	}
}

// logged FILE N TEXT waits until a file has a text N times.
func logged(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	poll(ts, strings.Join(args, " "), func() bool {
		text, _ := os.ReadFile(ts.MkAbs(args[0]))
		return strings.Count(string(text), args[2]) >= n
	})
}

// freeport VARIABLE sets the variable to a port that is not in use.
func freePort(ts *testscript.TestScript, _ bool, args []string) {
	port, err := redistest.FreePort()
	ts.Check(err)
	ts.Setenv(args[0], port)
}

// address FILE KIND VARIABLE [N] sets the variable to the address of the first line "KIND=…" of the
// file, or of the N-th.
func address(ts *testscript.TestScript, _ bool, args []string) {
	n := 1
	if len(args) > 3 {
		n, _ = strconv.Atoi(args[3])
	}
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		if addr, ok := strings.CutPrefix(strings.TrimSpace(line), args[1]+"="); ok {
			if n--; n == 0 {
				ts.Setenv(args[2], addr)
				return
			}
		}
	}
	ts.Fatalf("no %s in %s", args[1], args[0])
}

// conf FILE LINE… writes the lines to a file. Variables in the lines are replaced.
func conf(ts *testscript.TestScript, _ bool, args []string) {
	lines := os.Expand(strings.Join(args[1:], "\n")+"\n", ts.Getenv)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(lines), 0o600))
}

// ask ADDRESS REPLY COMMAND… waits for a server at a port or socket and sends it
// an inline command, until the answer contains REPLY. "! ask" waits until no server
// listens there.
func ask(ts *testscript.TestScript, neg bool, args []string) {
	network, address := "tcp", args[0]
	if filepath.Ext(address) == ".sock" {
		network, address = "unix", ts.MkAbs(address)
	} else if !strings.Contains(address, ":") {
		address = "127.0.0.1:" + address
	}
	poll(ts, fmt.Sprintf("%v", args), func() bool {
		conn, err := net.Dial(network, address)
		if err != nil {
			return neg
		}
		defer conn.Close()
		fmt.Fprintf(conn, "%s\r\n", strings.Join(args[2:], " "))
		conn.SetReadDeadline(time.Now().Add(10 * time.Second))
		answer := make([]byte, 4096)
		n, _ := conn.Read(answer)
		return !neg && strings.Contains(string(answer[:n]), args[1])
	})
}

// signal FILE [HUP|INT|KILL|QUIT] sends SIGTERM, or another signal, to a process. The file has its
// process id.
func sendSignal(ts *testscript.TestScript, _ bool, args []string) {
	sig := syscall.SIGTERM
	if len(args) > 1 {
		sig = map[string]syscall.Signal{
			"HUP": syscall.SIGHUP, "INT": syscall.SIGINT, "KILL": syscall.SIGKILL, "QUIT": syscall.SIGQUIT,
		}[args[1]]
	}
	pid, err := processID(ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Check(syscall.Kill(pid, sig))
}

// gone FILE waits until the process has ended whose id is in the file. It may have an id still, because
// no process has waited for it. Only Linux can tell.
func gone(ts *testscript.TestScript, _ bool, args []string) {
	pid, err := processID(ts.MkAbs(args[0]))
	ts.Check(err)
	poll(ts, "gone "+args[0], func() bool {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		return os.IsNotExist(err) || strings.Contains(string(stat), ") Z ")
	})
}

// processID returns the number that a file begins with: a pidfile, or the log of a daemon.
func processID(path string) (pid int, err error) {
	text, err := os.ReadFile(path)
	if err == nil {
		_, err = fmt.Sscan(string(text), &pid)
	}
	return pid, err
}

// certificate NAME writes a certificate to NAME.crt and its key to NAME.key.
func certificate(ts *testscript.TestScript, _ bool, args []string) {
	authority, err := testcert.New("authority")
	ts.Check(err)
	pair, err := authority.Issue(args[0])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]+".crt"), pair.CertPEM, 0o600))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]+".key"), pair.KeyPEM, 0o600))
}
