package compat

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/lockredis/lockredis/internal/redistest"
)

// redissonProgram is a server that the suite can run against.
type redissonProgram struct {
	name string // lockredis or redis-server
	path string // absolute
}

// redissonPrograms returns the servers that LOCKREDIS_SERVERS names. It builds lockredis.
func redissonPrograms(t *testing.T) []redissonProgram {
	t.Helper()
	asked := os.Getenv(redissonServersVar)
	if asked == "" {
		asked = "lockredis"
	}
	var programs []redissonProgram
	for _, name := range strings.Split(asked, ",") {
		switch name {
		case "lockredis":
			programs = append(programs, redissonProgram{name, redistest.BuildLockredis(t)})
		case "redis-server":
			programs = append(programs, redissonProgram{name, redistest.Find(t)})
		default:
			t.Fatalf("%s: no server %q; there are lockredis and redis-server", redissonServersVar, name)
		}
	}
	return programs
}

// startRedissonServer starts a server for the length of the test, checks that the program
// is the one it claims to be, and returns its address. Its output goes to the log file.
func startRedissonServer(
	t *testing.T, suite redissonSuite, program redissonProgram, log string,
) string {
	t.Helper()
	if err := os.Remove(log); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	path, version := program.path, "7.0."
	args := []string{"--notify-keyspace-events", "KEA"}
	if suite.tag == "valkey" {
		version = "7.2." // Valkey reports that it is compatible with it
		if program.name == "lockredis" {
			args = append(args, emulateValkey...)
		} else {
			path = redistest.FindValkey(t)
		}
	}
	addr := redistest.Run(t, redistest.Command{Program: path, LogFile: log, Args: args}).Addr
	info, err := redistest.Info(addr, "server")
	if err != nil {
		t.Fatal(err)
	}
	_, isLockredis := info["lockredis_release"]
	if isLockredis != (program.name == "lockredis") ||
		!strings.HasPrefix(info["redis_version"], version) {
		t.Fatalf("%s is not %s %s: %v", path, program.name, version, info)
	}
	return addr
}
