package shell

import (
	"bufio"
	"bytes"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The test's executable is the tools under their names, as the image's executable is.
func TestMain(m *testing.M) {
	if tool, ok := Tools()[filepath.Base(os.Args[0])]; ok {
		os.Exit(tool(os.Args))
	}
	os.Exit(m.Run())
}

// bin returns a directory with all tools.
func bin(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range Names() {
		if err := os.Symlink(self, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// run runs a command in a new directory. path is its PATH.
func run(t *testing.T, path string, args ...string) (out string, status int) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"a.txt": "one\ntwo three\nfour.five\n[six]\na+b\n",
		"b.txt": "TWO\n2\n\nlast", "script.sh": "echo $0 $# $*\nexit 3\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	file, err := exec.Command("sh", "-c", "PATH="+path+" command -v "+args[0]).Output()
	if err != nil {
		t.Fatalf("find %s: %v", args[0], err)
	}
	cmd := exec.Command(strings.TrimSpace(string(file)), args[1:]...)
	cmd.Args[0] = args[0]
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + path, "LC_ALL=C", "HOME=/"}
	var stdout bytes.Buffer
	cmd.Stdout = &stdout
	var failed *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &failed) {
		t.Fatalf("%q: %v", args, err)
	}
	return stdout.String(), cmd.ProcessState.ExitCode()
}

// TestScriptsRunAsOnTheSystem runs each script in this shell with these tools, and in the
// system's shell with its tools.
func TestScriptsRunAsOnTheSystem(t *testing.T) {
	own := bin(t)
	for _, script := range []string{
		// How test libraries look for an open port.
		`true && (grep -i ':0*18eb' /proc/net/tcp* || nc -vz -w 1 localhost 1 || exit 5)`,
		// Health checks and start scripts.
		`echo PONG | grep -q PONG`,
		`echo PONG | grep PONG || exit 1`,
		`echo NO | grep PONG || exit 1`,
		`[ "$(echo PONG)" = PONG ] && echo yes`, `test -f a.txt -a ! -f c.txt`, `test -d /nowhere`,
		`timeout 5 echo ok`, `timeout 0.05 sleep 60`, `timeout -s KILL 0.05 sleep 60`,
		`timeout 5 sh -c 'exit 7'`, `timeout 5 nothing-of-this-name`, `timeout 0 true`,
		`for i in 1 2 3; do echo $i; done; until true; do sleep 1; done`,
		`cp a.txt c.txt && cat c.txt && mkdir -p d/e && cp a.txt b.txt d && ls d &&
			mv c.txt d/e/ && ls d/e`,
		`printf 'port %d\n' 7000 > x.conf; echo maxmemory 1mb >> x.conf; cat x.conf`,
		`cat a.txt - <<EOF
here $((1 + 2))
EOF`,
		`touch n && ls && rm n && ls; rm n; echo $?; rm -f n; echo $?; rm -rf d n; echo $?`,
		`chmod 600 a.txt && ls -l a.txt | grep -o '^-[rwx-]*'; ` +
			`chmod +x a.txt && ls -l a.txt | head -c9 2>/dev/null | wc -l`,
		`mkdir d; mkdir d; echo $?; mkdir -m 700 f && ls -l | grep -c '^d'`,
		`head -n1 a.txt; head -2 a.txt; tail -n 1 a.txt; tail -1 b.txt; ` +
			`cat a.txt | head -n 2 | tail -n 1`,
		`head -c 5 a.txt; head -c5 b.txt; tail -c 4 a.txt; tail -c3 b.txt; head -c 99 b.txt; ` +
			`tail -c 99 b.txt; head -c 0 a.txt; tail -c 0 a.txt; tail -n 0 a.txt; head -n 0 a.txt`,
		`cat /dev/zero | head -c 3 | wc -c; cat /dev/zero | head -c 0 | wc -c`,
		`tail -n +2 a.txt; tail -c +3 a.txt; tail -n +0 b.txt; head -n -1 a.txt; head -c -3 b.txt; ` +
			`head -n -9 a.txt; tail -n +9 a.txt; tail -n -1 a.txt; tail -n 1 a.txt b.txt`,
		`head -n 1 a.txt b.txt; tail -c 2 a.txt - < b.txt; head -q -n 1 a.txt b.txt; ` +
			`head a.txt -n 1; tail a.txt -c 2; printf 'a\0b' | head -c 2 | wc -c; : | tail; ` +
			`head -n x a.txt 2>/dev/null; echo $?; tail -c x a.txt 2>/dev/null; echo $?`,
		`grep TWO -i a.txt; grep one a.txt -n; cat a.txt | grep o -c; grep -e one a.txt -v -c; ` +
			`grep TWO -- -i a.txt 2>/dev/null; echo $?; wc a.txt -l`,
		`wc -l < a.txt; cat b.txt | wc -c; wc -w < b.txt`,
		`env A=b sh -c 'echo $A'; env -i A=b env; A=c printenv A; printenv NONE; echo $?; ` +
			`env -u HOME printenv HOME`,
		`which sh >/dev/null; echo $?; which nothing-of-this-name; echo $?`,
		`id -u; id -g; whoami; id -un`, `sleep 0.01s; echo $?; sleep; echo $?`,
		`kill -0 $$ && echo alive; kill -0 999999; echo $?; sh -c 'kill -TERM $$; sleep 5'; ` +
			`echo $?`,
		`sh -c 'kill -9 $$'; echo $?`, `(sleep 0.01; exit 3) & wait; echo $?`,
		`set -e; false; echo never`, `exec sh -c 'exit 4'; echo never`,
		`umask 077; touch p; ls -l p | grep -o '^-[rwx-]*'; umask`,
		`sh script.sh x y; echo $?; sh -c 'echo $0 $1' name arg; sh -ec 'false; echo never'; ` +
			`echo $?`,
		`echo 'echo from stdin' | sh; printf 'exit 6' | sh -s; echo $?; . ./script.sh`,
		`nothing-of-this-name; echo $?; ./a.txt; echo $?; cat none.txt; echo $?`,
		`echo a | (read x; echo "<$x>"); x=$(cat b.txt | grep 2); echo $x ${x:-y} ${#x}`,
		`f() { echo "f $1"; return 2; }; f z; echo $?; case abc in a*) echo A;; *) echo B;; esac`,
		`trap 'echo bye' EXIT; echo hi`, `echo "$0"; echo $#; cd / && pwd`,
		`grep two a.txt; grep -v two a.txt; grep -c . b.txt; grep -n five a.txt; ` +
			`grep -i two a.txt b.txt`,
		`grep -h -i two a.txt b.txt; grep -l o a.txt b.txt; grep -x TWO b.txt; ` +
			`grep -w two a.txt; grep -o 'f[a-z]*' a.txt`,
		`grep 'four.five' a.txt; grep -F four.five a.txt; grep -F '.' a.txt; grep 'a+b' a.txt; ` +
			`grep 'x*+' a.txt`,
		`grep -E 'one|two' a.txt; grep 'one\|two' a.txt; grep 'o\{1\}n' a.txt; ` +
			`grep '[]s]ix' a.txt; grep '^\[' a.txt`,
		`grep '*' a.txt; echo $?; grep -m1 . a.txt; grep -s x none; echo $?; grep x none; ` +
			`echo $?; grep -q x none a.txt; echo $?`,
		`grep -e one -- a.txt; grep '[[:upper:]]' b.txt; grep '\(t\)w' a.txt; ` +
			`grep -E '(t)w' a.txt; grep '(' a.txt; echo $?`,
		`grep '[^a-z]' a.txt; grep -q one a.txt && echo found; grep -vc o a.txt; ` +
			`cat a.txt | grep -`,
		`echo 1 > /nowhere/x || echo no; echo 1 2>&1 >/dev/null; { echo err >&2; } 2>&1`,
		`printf '%s %05d\n' a 7; printf 'a\tb\n'; printf '%s\n' 1 2`, `hostname | wc -l`,
		`(exit 3); echo $?; ! true; echo $?; a=1; (a=2); echo $a`,
	} {
		out, status := run(t, own, "sh", "-c", script)
		wantOut, want := run(t, "/usr/bin:/bin", "sh", "-c", script)
		if out != wantOut || status != want {
			t.Errorf("%s\n got %d, %q\nwant %d, %q", script, status, out, want, wantOut)
		}
	}
}

func TestATerminatedScriptPassesTheSignalToItsProgram(t *testing.T) {
	own := bin(t)
	for _, script := range []string{
		`echo started; exec sh -c 'sleep 3600; echo never'`, `echo started; sleep 3600; echo never`,
		`echo started; (sleep 3600); echo never`, `echo started; sleep 3600 & wait; echo never`,
	} {
		cmd := exec.Command(filepath.Join(own, "sh"), "-c", script)
		cmd.Env = []string{"PATH=" + own}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		text := make([]byte, len("started\n"))
		if _, err := out.Read(text); err != nil {
			t.Fatal(err)
		}
		// The program may not have started yet; then the shell ends itself.
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		select {
		case err = <-ended:
		case <-time.After(time.Minute):
			cmd.Process.Kill()
			t.Fatalf("%s does not end", script)
		}
		if code := cmd.ProcessState.ExitCode(); code != 128+int(syscall.SIGTERM) {
			t.Errorf("%s: %v, status %d", script, err, code)
		}
	}
}

func TestPortsAreFoundByNcAndByTheShellItself(t *testing.T) {
	own := bin(t)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			// A connection that is closed with unread bytes is reset.
			bufio.NewReader(conn).ReadString('\n')
			conn.Write([]byte("+PONG\r\n"))
			conn.Close()
		}
	}()
	port := strconv.Itoa(ln.Addr().(*net.TCPAddr).Port)
	for _, test := range []struct {
		script, out string
		status      int
	}{
		{"nc -vz -w 1 127.0.0.1 " + port, "", 0},
		{"nc -z 127.0.0.1 1", "", 1},
		{"echo PING | nc -w 1 127.0.0.1 " + port, "+PONG\r\n", 0},
		{"bash -c '</dev/tcp/127.0.0.1/" + port + "'", "", 0},
		{"bash -c '</dev/tcp/127.0.0.1/1'", "", 1},
		{"nc -X", "", 2},
	} {
		if out, status := run(t, own, "sh", "-c", test.script); out != test.out ||
			status != test.status {
			t.Errorf("%s: %d, %q; want %d, %q", test.script, status, out, test.status, test.out)
		}
	}
}

func TestAnUnknownOptionIsAnError(t *testing.T) {
	own := bin(t)
	for _, name := range Names() {
		switch name {
		case "[", "echo", "false", "hostname", "printenv", "printf", "pwd", "test", "true",
			"which", "whoami", "kill", "sleep", "chmod":
			continue // have no options, or take every argument
		}
		if _, status := run(t, own, name, "-Z", "x", "y"); status == 0 {
			t.Errorf("%s -Z has status 0", name)
		}
	}
}
