//go:build unix

package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/lockredis/lockredis/internal/testcert"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"lockredis":   main,
		"orphan":      orphan,
		"closestdout": closeStdout,
	})
}

// The scripts start the binary as a launcher does and check its output. The
// condition "bounded" is true when this user cannot raise a limit of open files
// after lowering it.
func TestCommandLine(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"await":       await,
			"certificate": certificate,
			"ask":         ask,
			"freeport":    freePort,
			"signal":      sendSignal,
		},
		Condition: func(cond string) (bool, error) {
			if cond != "bounded" {
				return false, fmt.Errorf("unknown condition %q", cond)
			}
			return exec.Command("sh", "-c", "ulimit -n 500 && ! ulimit -n 501").Run() == nil, nil
		},
	})
}

// orphan starts the command given, waits until the file exists that its last
// argument names, and exits while the command runs.
func orphan() {
	command := exec.Command(os.Args[1], os.Args[2:]...)
	if err := command.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for range 2000 {
		if _, err := os.Stat(os.Args[len(os.Args)-1]); err == nil {
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

// poll calls done until it returns true. The script fails after ten seconds.
func poll(ts *testscript.TestScript, what string, done func() bool) {
	for deadline := time.Now().Add(10 * time.Second); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			ts.Fatalf("timeout after 10 s: %s", what)
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

// freeport VARIABLE sets the variable to a port that is not in use.
func freePort(ts *testscript.TestScript, _ bool, args []string) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	defer ln.Close()
	_, port, _ := net.SplitHostPort(ln.Addr().String())
	ts.Setenv(args[0], port)
}

// ask ADDRESS REPLY COMMAND… waits for a server at a port or socket and sends it
// an inline command. The answer must contain REPLY. "! ask" waits until no server
// listens there.
func ask(ts *testscript.TestScript, neg bool, args []string) {
	network, address := "tcp", args[0]
	if filepath.Ext(address) == ".sock" {
		network, address = "unix", ts.MkAbs(address)
	} else if !strings.Contains(address, ":") {
		address = "127.0.0.1:" + address
	}
	var got string
	poll(ts, fmt.Sprintf("%v", args), func() bool {
		conn, err := net.Dial(network, address)
		if err != nil {
			return neg
		}
		defer conn.Close()
		fmt.Fprintf(conn, "%s\r\n", strings.Join(args[2:], " "))
		conn.SetReadDeadline(time.Now().Add(time.Second))
		answer := make([]byte, 4096)
		n, _ := conn.Read(answer)
		got = string(answer[:n])
		return !neg
	})
	if !neg && !strings.Contains(got, args[1]) {
		ts.Fatalf("%v: %q", args, got)
	}
}

// signal FILE [HUP] sends SIGTERM, or SIGHUP, to a process. The file has its
// process id.
func sendSignal(ts *testscript.TestScript, _ bool, args []string) {
	sig := syscall.SIGTERM
	if len(args) > 1 && args[1] == "HUP" {
		sig = syscall.SIGHUP
	}
	var pid int
	_, err := fmt.Sscan(ts.ReadFile(args[0]), &pid)
	ts.Check(err)
	ts.Check(syscall.Kill(pid, sig))
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
