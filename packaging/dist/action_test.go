//go:build unix

package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

const actionScript = "../action/start"

// The action downloads what a release has under the names that dist writes, and starts it.
func TestTheActionInstallsAndStartsARelease(t *testing.T) {
	for _, tool := range []string{"bash", "curl"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	releases := releasesOf(t)
	for _, version := range []string{"1.2.3", "v1.2.3", "latest"} {
		job := t.TempDir()
		pidFile := filepath.Join(job, "pid")
		out, err := runAction(releases, job, version, "--pidfile "+pidFile+" --requirepass 'a b'")
		if err != nil {
			t.Fatalf("%s: %v\n%s", version, err, out)
		}
		got := read(t, filepath.Join(job, "output"))
		parts := regexp.MustCompile(`^host=127\.0\.0\.1\nport=(\d+)\nurl=redis://:a%20b@127\.0\.0\.1:(\d+)\n$`).FindStringSubmatch(got)
		if parts == nil || parts[1] != parts[2] {
			t.Fatalf("%s: the outputs are %q", version, got)
		}
		if env := read(t, filepath.Join(job, "env")); !strings.Contains(env, "\nSPRING_DATA_REDIS_PORT="+parts[1]+"\n") {
			t.Errorf("%s: the variables of the job are %q", version, env)
		}
		ping(t, parts[1])
		end(t, pidFile)
	}
	job := t.TempDir()
	if out, err := runAction(releases, job, "1.2.3", "--no-such-directive 1"); err == nil || !strings.Contains(out, "Bad directive") {
		t.Errorf("a wrong directive: %v\n%s", err, out)
	}
	archive := filepath.Join(releases, "download/v1.2.3", "lockredis-1.2.3-"+runtime.GOOS+"-"+runtime.GOARCH+".tar.gz")
	if err := os.WriteFile(archive, []byte("another file"), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := runAction(releases, job, "1.2.3", ""); err == nil || !strings.Contains(out, "has another checksum") {
		t.Errorf("a changed archive: %v\n%s", err, out)
	}
}

// The names that the action and its script share with other files.
func TestTheActionsNamesAgree(t *testing.T) {
	action, script := read(t, "../../action.yml"), read(t, actionScript)
	if !strings.Contains(action, `"$GITHUB_ACTION_PATH/packaging/action/start"`) {
		t.Error("action.yml does not run packaging/action/start")
	}
	for _, m := range regexp.MustCompile(`(\w+): \$\{\{ inputs\.(\w+) \}\}`).FindAllStringSubmatch(action, -1) {
		if !strings.Contains(action, "\n  "+m[2]+":\n") || !strings.Contains(script, "$"+m[1]) {
			t.Errorf("action.yml or its script has no %s", m[0])
		}
	}
	for _, m := range regexp.MustCompile(`steps\.start\.outputs\.(\w+)`).FindAllStringSubmatch(action, -1) {
		if !strings.Contains(script, `echo "`+m[1]+"=") {
			t.Errorf("the script writes no %s", m[1])
		}
	}
	releases := regexp.MustCompile(`LOCKREDIS_RELEASES:-([^}]+)}`).FindStringSubmatch(script)
	if releases == nil || !strings.Contains(read(t, "install.sh.tmpl"), releases[1]+"/download/v{{.version}}}") {
		t.Errorf("the script and install.sh have other releases: %q", releases)
	}
}

// releasesOf returns a directory with the release 1.2.3, as GitHub has it. The executable for this
// machine is lockredis, the others are empty programs.
func releasesOf(t *testing.T) string {
	t.Helper()
	binaries := t.TempDir()
	if err := os.CopyFS(binaries, os.DirFS(build(t))); err != nil {
		t.Fatal(err)
	}
	own := runtime.GOOS + "-" + runtime.GOARCH
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-o", filepath.Join(binaries, own, "lockredis"), "./cmd/lockredis")
	cmd.Dir = "../.."
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	releases := t.TempDir()
	r := newRelease(t, binaries)
	r.out = filepath.Join(releases, "download/v1.2.3")
	if err := r.write(); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(releases, "latest"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../download/v1.2.3", filepath.Join(releases, "latest/download")); err != nil {
		t.Fatal(err)
	}
	return releases
}

// runAction runs the action's script for a job: its directory gets the files that a runner gives.
func runAction(releases, job, version, args string) (out string, err error) {
	cmd := exec.Command("bash", actionScript)
	cmd.Env = append(os.Environ(), "VERSION="+version, "PORT=auto", "TOPOLOGY=", "ARGS="+args, "RUNNER_TEMP="+job,
		"GITHUB_OUTPUT="+filepath.Join(job, "output"), "GITHUB_ENV="+filepath.Join(job, "env"),
		"LOCKREDIS_RELEASES=file://"+releases, "LOCKREDIS_FROM=file://"+releases+"/download/v1.2.3")
	text, err := cmd.CombinedOutput()
	return string(text), err
}

// ping fails the test unless a server with the password "a b" answers.
func ping(t *testing.T, port string) {
	t.Helper()
	conn, err := net.Dial("tcp", "127.0.0.1:"+port)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "AUTH 'a b'\r\nPING\r\nQUIT\r\n")
	if got, _ := io.ReadAll(conn); string(got) != "+OK\r\n+PONG\r\n+OK\r\n" {
		t.Errorf("the server answers %q", got)
	}
}

// end ends the server with a pidfile, and waits until it has removed the file.
func end(t *testing.T, pidFile string) {
	t.Helper()
	var pid int
	if _, err := fmt.Sscan(read(t, pidFile), &pid); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) { // another process ends
		if _, err := os.Stat(pidFile); os.IsNotExist(err) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the server does not end")
		}
	}
}
