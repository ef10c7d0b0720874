package shell

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// call is one run of a tool.
type call struct {
	args     []string // with the name
	in       io.Reader
	out, err io.Writer
}

// fail prints an error and returns status.
func (c *call) fail(status int, err error) int {
	fmt.Fprintf(c.err, "%s: %v\n", filepath.Base(c.args[0]), err)
	return status
}

// list has the tools by name. A shell's builtins are tools too, because a container's
// command may be one.
func list() map[string]func(c *call) int {
	return map[string]func(c *call) int{
		"sh": sh, "bash": sh,
		"[": builtin, "echo": builtin, "false": builtin, "printf": builtin, "pwd": builtin,
		"test": builtin, "true": builtin,
		"cat": cat, "chmod": chmod, "cp": cp, "ls": ls, "mkdir": mkdir, "mv": mv, "rm": rm,
		"touch": touch,
		"grep":  grep, "head": head, "tail": tail, "wc": wc,
		"env": env, "hostname": hostname, "id": id, "kill": kill, "printenv": printenv,
		"sleep": sleep, "timeout": timeout, "which": which, "whoami": whoami,
		"nc": nc,
	}
}

// Names returns the names of the tools, in order.
func Names() []string { return slices.Sorted(maps.Keys(list())) }

// Tools returns the tools by name. Each gets the process's arguments, uses its standard
// streams, and returns its exit status.
func Tools() map[string]func(args []string) int {
	tools := map[string]func(args []string) int{}
	for name, tool := range list() {
		tools[name] = func(args []string) int {
			return tool(&call{args, os.Stdin, os.Stdout, os.Stderr})
		}
	}
	return tools
}

// options splits a tool's arguments into options and operands. letters are the options
// without a value, valued the options with one. A value may be a part of the option's
// argument: "-n5". "-5" means "-n 5" when valued has an n.
func (c *call) options(letters, valued string) (
	given map[byte]bool, values map[byte]string, operands []string, err error,
) {
	return c.parse(letters, valued, false)
}

// optionsAnywhere is options for tools that take options behind operands, too: "grep a -i".
func (c *call) optionsAnywhere(letters, valued string) (
	given map[byte]bool, values map[byte]string, operands []string, err error,
) {
	return c.parse(letters, valued, true)
}

func (c *call) parse(letters, valued string, anywhere bool) (
	given map[byte]bool, values map[byte]string, operands []string, err error,
) {
	given, values = map[byte]bool{}, map[byte]string{}
	args := c.args[1:]
	for len(args) > 0 {
		if len(args[0]) < 2 || args[0][0] != '-' {
			if !anywhere {
				break
			}
			operands, args = append(operands, args[0]), args[1:]
			continue
		}
		arg := args[0][1:]
		args = args[1:]
		if arg == "-" {
			break
		}
		if strings.Contains(valued, "n") && arg[0] >= '0' && arg[0] <= '9' {
			arg = "n" + arg
		}
		for arg != "" {
			letter := arg[0]
			arg = arg[1:]
			switch {
			case strings.IndexByte(letters, letter) >= 0:
				given[letter] = true
				continue
			case strings.IndexByte(valued, letter) < 0:
				return nil, nil, nil, fmt.Errorf("unknown option -%c", letter)
			case arg == "" && len(args) == 0:
				return nil, nil, nil, fmt.Errorf("option -%c needs a value", letter)
			case arg == "":
				arg, args = args[0], args[1:]
			}
			given[letter], values[letter] = true, arg
			arg = ""
		}
	}
	return given, values, append(operands, args...), nil
}

// input calls use with each file of names, or with standard input for "-" and when there
// are no names. It reports the files that cannot be read and returns status for them.
func (c *call) input(names []string, status int, use func(name string, in io.Reader) error) int {
	if len(names) == 0 {
		names = []string{"-"}
	}
	result := 0
	for _, name := range names {
		err := func() error {
			if name == "-" {
				return use(name, c.in)
			}
			file, err := os.Open(name)
			if err != nil {
				return err
			}
			defer file.Close()
			return use(name, file)
		}()
		if err != nil {
			result = c.fail(status, err)
		}
	}
	return result
}
