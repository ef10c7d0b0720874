//go:build linux

package main

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// TestMain is also the first process of a container: it makes the container's surroundings
// and replaces itself with the image's entrypoint.
func TestMain(m *testing.M) {
	if spec := os.Getenv("CONTAINER_SPEC"); spec != "" {
		fmt.Fprintln(os.Stderr, "container:", enter(spec))
		os.Exit(125)
	}
	status := m.Run()
	os.RemoveAll(builtIn)
	os.Exit(status)
}

func tarballOpener(path string) tarball.Opener {
	return func() (io.ReadCloser, error) { return os.Open(path) }
}

// unpack returns the headers of an image's file system and writes it to dir, unless dir
// is "".
func unpack(t *testing.T, img v1.Image, dir string) (headers []*tar.Header) {
	t.Helper()
	stream := mutate.Extract(img)
	defer stream.Close()
	for archive := tar.NewReader(stream); ; {
		header, err := archive.Next()
		if err == io.EOF {
			return headers
		}
		if err != nil {
			t.Fatal(err)
		}
		headers = append(headers, header)
		if dir == "" {
			continue
		}
		if err := unpackFile(filepath.Join(dir, header.Name), header, archive); err != nil {
			t.Fatal(err)
		}
	}
}

func unpackFile(path string, header *tar.Header, in io.Reader) error {
	switch header.Typeflag {
	case tar.TypeSymlink:
		return os.Symlink(header.Linkname, path)
	case tar.TypeDir:
		if err := os.MkdirAll(path, 0o755); err != nil {
			return err
		}
	default:
		text, err := io.ReadAll(in)
		if err == nil {
			err = os.WriteFile(path, text, 0o600)
		}
		if err != nil {
			return err
		}
	}
	if err := os.Chown(path, header.Uid, header.Gid); err != nil {
		return err
	}
	return os.Chmod(path, header.FileInfo().Mode())
}

// container is what a container's runtime does with an image, in namespaces of this
// machine: a network and processes of its own, and the image as the root.
type container struct {
	t    *testing.T
	spec spec
	cmd  *exec.Cmd
	out  *output
}

// spec is a container's configuration, for enter.
type spec struct {
	Root     string
	Dir      string
	Args     []string
	Env      []string
	User     int
	ReadOnly bool
}

// output collects the output of a container.
type output struct {
	mu   sync.Mutex // guards text
	text bytes.Buffer
}

func (l *output) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *output) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// option changes a container before it starts.
type option func(s *spec)

func asUser(id int) option { return func(s *spec) { s.User = id } }
func readOnly(s *spec)     { s.ReadOnly = true }

// withFile puts a file into the image before the container starts, as a volume does.
func withFile(name, text string) option {
	return func(s *spec) {
		if err := os.WriteFile(filepath.Join(s.Root, name), []byte(text), 0o644); err != nil {
			panic(err)
		}
	}
}

// start starts a container of a variant. command replaces the image's command unless it is
// empty.
func start(t *testing.T, v variant, command []string, options ...option) *container {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can start a container here")
	}
	if _, err := exec.LookPath("nsenter"); err != nil {
		t.Skip("a container needs nsenter, of util-linux")
	}
	b := sharedBuild(t)
	if err := b.archive(v, host()); err != nil {
		t.Fatal(err)
	}
	// What "docker load" gets.
	img, err := tarball.ImageFromPath(
		filepath.Join(b.out, "lockredis-1.2.3-image"+v.suffix+"-"+host()+".tar"), nil)
	if err != nil {
		t.Fatal(err)
	}
	file, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	if err := os.Chmod(filepath.Dir(root), 0o755); err != nil { // for the container's user
		t.Fatal(err)
	}
	unpack(t, img, root)
	if len(command) == 0 {
		command = file.Config.Cmd
	}
	c := &container{t: t, out: &output{}, spec: spec{Root: root, Dir: file.Config.WorkingDir,
		Args: slices.Concat(file.Config.Entrypoint, command), Env: file.Config.Env}}
	user, _, _ := strings.Cut(file.Config.User, ":")
	if c.spec.User, err = strconv.Atoi(user); err != nil {
		t.Fatal(err)
	}
	for _, set := range options {
		set(&c.spec)
	}
	c.start()
	return c
}

func (c *container) start() {
	c.t.Helper()
	text, err := json.Marshal(c.spec)
	if err != nil {
		c.t.Fatal(err)
	}
	c.cmd = exec.Command("/proc/self/exe")
	c.cmd.Env = []string{"CONTAINER_SPEC=" + string(text)}
	c.cmd.Stdout, c.cmd.Stderr = c.out, c.out
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL,
		Cloneflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID |
			syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS}
	if err := c.cmd.Start(); err != nil {
		if errors.Is(err, syscall.EPERM) {
			c.t.Skipf("this machine has no namespaces for tests: %v", err)
		}
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() {
		if c.cmd.ProcessState == nil {
			c.cmd.Process.Kill()
			c.cmd.Wait()
		}
	})
}

// enter makes the surroundings of a container and runs its first process. It returns only
// after an error.
func enter(text string) error {
	var s spec
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return err
	}
	if err := loopbackUp(); err != nil {
		return fmt.Errorf("loopback: %w", err)
	}
	mount := func(from, to, kind string, flags uintptr) error {
		if err := syscall.Mount(from, to, kind, flags, ""); err != nil {
			return fmt.Errorf("mount %s: %w", to, err)
		}
		return nil
	}
	err := errors.Join(
		mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE),
		mount(s.Root, s.Root, "", syscall.MS_BIND),
		mount("proc", s.Root+"/proc", "proc", 0),
		mount("/dev", s.Root+"/dev", "", syscall.MS_BIND|syscall.MS_REC),
	)
	if s.ReadOnly && err == nil {
		err = mount("", s.Root, "", syscall.MS_REMOUNT|syscall.MS_BIND|syscall.MS_RDONLY)
	}
	if err != nil {
		return err
	}
	err = errors.Join(syscall.Chroot(s.Root), os.Chdir(s.Dir), syscall.Setgroups(nil),
		syscall.Setgid(s.User), syscall.Setuid(s.User))
	if err != nil {
		return err
	}
	for _, line := range s.Env {
		if path, ok := strings.CutPrefix(line, "PATH="); ok {
			os.Setenv("PATH", path)
		}
	}
	path, err := exec.LookPath(s.Args[0])
	if err != nil {
		return err
	}
	return syscall.Exec(path, s.Args, s.Env)
}

// loopbackUp starts the loopback interface of a new network.
func loopbackUp() error {
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(socket)
	request := struct {
		name  [syscall.IFNAMSIZ]byte
		flags uint16
		_     [22]byte
	}{flags: syscall.IFF_UP | syscall.IFF_RUNNING}
	copy(request.name[:], "lo")
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(socket), syscall.SIOCSIFFLAGS,
		uintptr(unsafe.Pointer(&request)))
	if errno != 0 {
		return errno
	}
	return nil
}

// exec runs a command in the container, as "docker exec" does, and returns its output and
// its status.
func (c *container) exec(args ...string) (out string, status int) {
	c.t.Helper()
	user := strconv.Itoa(c.spec.User)
	pid := strconv.Itoa(c.cmd.Process.Pid)
	cmd := exec.Command("nsenter", append([]string{"--target", pid, "--net", "--mount", "--pid",
		"--root=/proc/" + pid + "/root", "--wd=/proc/" + pid + "/cwd", "--setuid", user,
		"--setgid", user, "--"}, args...)...)
	cmd.Env = c.spec.Env
	text, err := cmd.CombinedOutput()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		c.t.Fatal(err)
	}
	return string(text), cmd.ProcessState.ExitCode()
}

// expect fails the test unless a command in the container prints out and succeeds.
func (c *container) expect(out string, args ...string) {
	c.t.Helper()
	if got, status := c.exec(args...); got != out || status != 0 {
		c.t.Errorf("%q: status %d, %q; want %q\n%s", args, status, got, out, c.out)
	}
}

// ready waits as the wait strategy of Testcontainers for Redis does: for a line of the log
// that this pattern matches as a whole, with its line feed.
func (c *container) ready() {
	c.t.Helper()
	pattern := regexp.MustCompile(`\A(?s:.*Ready to accept connections.*\n)\z`)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		for line := range strings.Lines(c.out.String()) {
			if pattern.MatchString(line) {
				return
			}
		}
		if time.Now().After(deadline) {
			c.t.Fatalf("the container is not ready:\n%s", c.out)
		}
	}
}

// wait waits for the container's end and returns its status.
func (c *container) wait() int {
	c.t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- c.cmd.Wait() }()
	select {
	case <-ended:
		return c.cmd.ProcessState.ExitCode()
	case <-time.After(time.Minute):
		c.cmd.Process.Kill()
		<-ended
		c.t.Fatalf("the container does not end:\n%s", c.out)
		return -1
	}
}

// stop ends the container as "docker stop" does and expects status 0.
func (c *container) stop() {
	c.t.Helper()
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		c.t.Fatal(err)
	}
	if status := c.wait(); status != 0 {
		c.t.Errorf("status %d\n%s", status, c.out)
	}
}

// portCheck is how Testcontainers looks for a port inside a container, with a shell.
const portCheck = `true && (grep -i ':0*18eb' /proc/net/tcp* || nc -vz -w 1 localhost 6379 || ` +
	`/bin/bash -c '</dev/tcp/localhost/6379')`

func TestTheContainerServesAsRedisDoes(t *testing.T) {
	c := start(t, variants[0], nil)
	c.ready()
	c.expect("PONG\n", "redis-cli", "ping")
	c.expect("bind\n* -::*\n", "redis-cli", "config", "get", "bind")
	c.expect("protected-mode\nno\n", "redis-cli", "config", "get", "protected-mode")
	c.expect("PONG\n", "redis-cli", "-h", "127.0.0.9", "ping")
	c.expect("OK\n", "/bin/sh", "-c", "redis-cli ping | grep -q PONG && echo OK")
	c.expect("OK\n", "sh", "-c", `[ "$(redis-cli ping)" = PONG ] && timeout 5 echo OK`)
	c.expect("", "bash", "-c", "</dev/tcp/localhost/6379")
	if out, status := c.exec("/bin/sh", "-c", portCheck); status != 0 {
		t.Errorf("the port check of Testcontainers: status %d, %s", status, out)
	}
	if out, status := c.exec("/bin/sh", "-c", "nc -vz -w 1 localhost 6379"); status != 0 {
		t.Errorf("nc: status %d, %s", status, out)
	}
	if out, _ := c.exec("cat", "/proc/1/status"); !strings.Contains(out, "Uid:\t999\t999") {
		t.Errorf("the server's user:\n%s", out)
	}
	c.expect("redis\n", "whoami")
	c.expect("/data\n", "pwd")
	c.expect("ok\n", "sh", "-c", "echo ok > /data/file && cat /data/file && rm file")
	c.stop()
}

func TestTheContainerRunsAsAnyUserOnAReadOnlyRoot(t *testing.T) {
	for _, options := range [][]option{{asUser(12345)}, {asUser(0)}, {readOnly},
		{asUser(1000660000), readOnly}} {
		c := start(t, variants[0], nil, options...)
		c.ready()
		c.expect("PONG\n", "redis-cli", "ping")
		c.expect(strconv.Itoa(c.spec.User)+"\n", "sh", "-c", "id -u")
		c.stop()
	}
}

func TestTheContainerTakesTheCommandsOfRedis(t *testing.T) {
	const conf = "/usr/local/etc/redis/redis.conf"
	file := withFile(conf, "requirepass fromfile\nmaxclients 100\n")
	for _, test := range []struct {
		command []string
		args    []string // of redis-cli
	}{
		{[]string{"redis-server", "--requirepass", "x"}, []string{"-a", "x"}},
		{[]string{"redis-server", conf}, []string{"-a", "fromfile"}},
		{[]string{conf, "--port", "7000"}, []string{"-a", "fromfile", "-p", "7000"}},
		{[]string{"--port", "7000"}, []string{"-p", "7000"}},
		{[]string{"--bind", "127.0.0.5"}, []string{"-h", "127.0.0.5"}},
		{[]string{"lockredis", "--port", "7000"}, []string{"-p", "7000"}},
		{[]string{"sh", "-c", "echo first && exec redis-server --port 7000"},
			[]string{"-p", "7000"}},
		{[]string{"sh", "-c", "echo maxmemory 10mb > /tmp/r.conf; exec redis-server /tmp/r.conf"},
			nil},
		{[]string{"redis-sentinel", "--port", "7000"}, []string{"-p", "7000"}},
	} {
		c := start(t, variants[0], test.command, file)
		if test.command[0] == "redis-sentinel" {
			for range 2000 { // it has no line of its own for readiness
				if _, status := c.exec("redis-cli", "-p", "7000", "ping"); status == 0 {
					break
				}
				time.Sleep(5 * time.Millisecond)
			}
		} else {
			c.ready()
		}
		c.expect("PONG\n", slices.Concat([]string{"redis-cli", "--no-auth-warning"}, test.args,
			[]string{"ping"})...)
		c.stop()
	}
}

// TestTheComposeExampleIsHealthy runs the service of examples/compose, and its health check
// as Docker runs it.
func TestTheComposeExampleIsHealthy(t *testing.T) {
	text, err := os.ReadFile("../../examples/compose/compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	value := func(name string) string {
		found := regexp.MustCompile(`(?m)^ +` + name + `: (.*)$`).FindSubmatch(text)
		if found == nil {
			t.Fatalf("the example has no %s", name)
		}
		return string(found[1])
	}
	c := start(t, variants[0], strings.Fields(value("command")), func(s *spec) {
		s.Env = append(s.Env, "REDISCLI_AUTH="+value("REDISCLI_AUTH"))
	})
	c.ready()
	c.expect("PONG\n", "/bin/sh", "-c", value("test"))
	c.expect("notify-keyspace-events\nxE\n", "redis-cli", "config", "get", "notify*")
	c.stop()
}

func TestTheContainerRunsOtherPrograms(t *testing.T) {
	for _, test := range []struct {
		command []string
		out     string
		status  int
	}{
		{[]string{"redis-cli", "--version"}, "redis-cli 7.0.15\n", 0},
		{[]string{"echo", "hello"}, "hello\n", 0},
		{[]string{"sh", "-c", "exit 7"}, "", 7},
		{[]string{"redis-cli", "ping"},
			"Could not connect to Redis at 127.0.0.1:6379: Connection refused\n", 1},
		{[]string{"nothing"}, "docker-entrypoint.sh: nothing: " +
			"exec: \"nothing\": executable file not found in $PATH\n", 127},
	} {
		c := start(t, variants[0], test.command)
		if status := c.wait(); status != test.status || c.out.String() != test.out {
			t.Errorf("%q: status %d, %q", test.command, status, c.out)
		}
	}
}

func TestTheImageWithoutAShellServesToo(t *testing.T) {
	c := start(t, variants[1], nil, readOnly)
	c.ready()
	c.expect("PONG\n", "redis-cli", "ping")
	if _, err := os.Lstat(filepath.Join(c.spec.Root, "bin")); !os.IsNotExist(err) {
		t.Errorf("/bin exists: %v", err)
	}
	c.stop()
}
