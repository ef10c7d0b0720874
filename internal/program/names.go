package program

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/lockredis/lockredis/internal/rediscli"
)

// Main runs the program that the process was started as and returns the exit status.
// The name of the executable decides: redis-cli, docker-entrypoint.sh, a name of
// tools, or with every other name the server. Its first argument exec runs a command on a server;
// redis-server takes that for a configuration file. A tool gets the arguments with the name
// and returns the exit status. A nil map has no tools.
func Main(tools map[string]func(args []string) int) int {
	name := strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")
	if tool, ok := tools[name]; ok {
		return tool(os.Args)
	}
	switch name {
	case "redis-cli":
		return rediscli.Run(rediscli.Process{Args: os.Args[1:], Getenv: os.Getenv,
			Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr})
	case "docker-entrypoint.sh":
		return entrypoint(os.Args[1:])
	}
	if len(os.Args) > 1 && os.Args[1] == "exec" && !strings.HasPrefix(name, "redis-") {
		return execute(os.Args[2:], os.Stdin, os.Stdout, os.Stderr)
	}
	return server(arguments(os.Args), os.Stdin, os.Stdout, os.Stderr)
}

// arguments returns the arguments of the server. Under the name redis-sentinel it is a
// Sentinel, unless it only prints a text.
func arguments(argv []string) []string {
	args := argv[1:]
	prints := asksVersion(args) || asksHelp(args)
	if strings.Contains(filepath.Base(argv[0]), "redis-sentinel") && !prints {
		args = append([]string{"--sentinel"}, args...)
	}
	return args
}
