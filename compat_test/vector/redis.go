package vector

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/lockredis/lockredis/compat_test/wire"
)

// RedisVersion is the version whose replies the vectors hold.
const RedisVersion = "7.0.15"

// Redis is a redis-server that the test started.
type Redis struct {
	Addr string
	cmd  *exec.Cmd
	dir  string
}

// StartRedis starts the program (found in PATH when it has no slash) on a free port of
// the loopback in a directory of its own, with 7.0's defaults but for args, and waits until it
// answers. It refuses a server that is not redis-server RedisVersion.
func StartRedis(program string, args ...string) (*Redis, error) {
	dir, err := os.MkdirTemp("", "vectors-redis-")
	if err != nil {
		return nil, err
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	all := append([]string{"--port", strconv.Itoa(port), "--bind", "127.0.0.1", "--save", "",
		"--appendonly", "no", "--daemonize", "no", "--dir", dir}, args...)
	cmd := exec.Command(program, all...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	r := &Redis{Addr: net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), cmd: cmd, dir: dir}
	if err := awaitReady(out); err != nil {
		r.Stop()
		return nil, err
	}
	if err := IsRedis(r.Addr); err != nil {
		r.Stop()
		return nil, err
	}
	return r, nil
}

// Stop ends the server and removes its directory.
func (r *Redis) Stop() {
	r.cmd.Process.Kill()
	r.cmd.Wait()
	os.RemoveAll(r.dir)
}

// awaitReady reads the server's log up to the line that says it listens.
func awaitReady(log io.Reader) error {
	ready := make(chan error, 1)
	go func() {
		var last string
		s := bufio.NewScanner(log)
		for s.Scan() {
			last = s.Text()
			if strings.Contains(last, "Ready to accept connections") {
				ready <- nil
				io.Copy(io.Discard, log)
				return
			}
		}
		ready <- fmt.Errorf("the server ended: %s", last)
	}()
	select {
	case err := <-ready:
		return err
	case <-time.After(10 * time.Second):
		return fmt.Errorf("the server is not ready after 10 s")
	}
}

// IsRedis returns an error when the server at addr is not the real RedisVersion.
func IsRedis(addr string) error {
	c, err := wire.Dial(addr)
	if err != nil {
		return err
	}
	defer c.Close()
	v, err := c.Do("INFO", "everything")
	if err != nil {
		return err
	}
	info := string(v.Str)
	if strings.Contains(info, "lockredis_version") {
		return fmt.Errorf("%s is lockredis: vectors are recorded from redis-server only", addr)
	}
	if !strings.Contains(info, "redis_version:"+RedisVersion+"\r\n") {
		return fmt.Errorf("%s is not redis-server %s", addr, RedisVersion)
	}
	return nil
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}
