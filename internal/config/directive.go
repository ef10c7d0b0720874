package config

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/lockredis/lockredis/resp"
)

// directive is a row of the table.
type directive struct {
	name   string
	alias  string // the older name of the same
	parse  parser
	def    string // the value at the start
	flags  flags
	show   func(value string) string // how CONFIG GET shows it; nil: as it is
	refuse string                    // why any value but def is refused; "" when none is
}

type flags uint8

const (
	immutable flags = 1 << iota // only at the start
	protected                   // CONFIG SET only with enable-protected-configs
	multi                       // several words are one value
	sensitive                   // a secret: never logged
	own                         // not a directive of Redis
	works                       // a field of Config follows it
	volatile                    // the name of a file: setting it again reads the file again
)

func (d *directive) shown(value string) string {
	if d.show == nil {
		return value
	}
	return d.show(value)
}

func (d *directive) has(f flags) bool { return d.flags&f != 0 }

// parser checks what is given for a directive and returns the value to keep,
// in the form that CONFIG GET shows. An error's text is Redis's.
type parser func(in input) (string, error)

// input is what a parser has to go by.
type input struct {
	words []string // one, unless the directive is multi
	old   string   // the present value
	again bool     // the directive stood in this configuration file before
	dir   string   // the working directory
}

// Why a directive is refused that Redis would act on: accepting it without
// effect would be a lie.
const (
	noACL            = "lockredis has no ACL users: the only user is 'default', with requirepass"
	noCluster        = "lockredis has no cluster mode"
	noReplication    = "lockredis has no replication"
	noDaemon         = "lockredis does not detach itself: start it in the background"
	noSupervisor     = "lockredis does not talk to a supervisor: use 'supervised no'"
	noModules        = "lockredis loads no modules"
	noSyslog         = "lockredis does not write to syslog: use logfile or standard output"
	noEviction       = "lockredis evicts nothing: use 'maxmemory-policy noeviction'"
	noClientEviction = "lockredis evicts no clients: use client-output-buffer-limit"
	noSocketMark     = "lockredis does not mark sockets"
	noDHE            = "lockredis has no Diffie-Hellman over finite fields: TLS uses elliptic curves"
	noSentinel       = "lockredis is no sentinel"
	noRebind         = "lockredis does not change its listeners while it runs"
)

// reason is an error whose text is Redis's, or goes to the client beside such.
type reason string

// Error returns the text.
func (r reason) Error() string { return string(r) }

const (
	errWords  = reason("wrong number of arguments")
	errDefrag = reason("Active defragmentation cannot be enabled: it requires a Redis server compiled with a modified Jemalloc " +
		"like the one shipped by default with the Redis source distribution")
)

// check runs the directive's parser and its refusal.
func (d *directive) check(in input) (string, error) {
	value, err := d.parse(in)
	if err == nil && d.refuses(value) {
		err = reason(d.refuse)
	}
	return value, err
}

func (d *directive) refuses(value string) bool { return d.refuse != "" && value != d.def }

func text(in input) (string, error) { return in.words[0], nil }

func yesNo(in input) (string, error) {
	switch v := strings.ToLower(in.words[0]); v {
	case "yes", "no":
		return v, nil
	}
	return "", reason("argument must be 'yes' or 'no'")
}

func oneOf(choices ...string) parser {
	return func(in input) (string, error) {
		v := strings.ToLower(in.words[0])
		for _, c := range choices {
			if c == v {
				return v, nil
			}
		}
		return "", errNotOneOf(choices)
	}
}

func errNotOneOf(choices []string) error {
	return reason("argument(s) must be one of the following: " + strings.Join(choices, ", "))
}

func integer(low, high int64) parser {
	return func(in input) (string, error) {
		n, ok := resp.ParseInt([]byte(in.words[0]))
		if !ok {
			return "", reason("argument couldn't be parsed into an integer")
		}
		return inRange(n, low, high)
	}
}

func inRange(n, low, high int64) (string, error) {
	if n < low || n > high {
		return "", reason(fmt.Sprintf("argument must be between %d and %d inclusive", low, high))
	}
	return strconv.FormatInt(n, 10), nil
}

// unsigned is the upper bound of sizes that take all of 64 bits.
const unsigned = -1

func memory(low, high int64) parser {
	return func(in input) (string, error) {
		n, ok := parseMemory(in.words[0])
		switch {
		case !ok:
			return "", reason("argument must be a memory value")
		case high == unsigned:
			return strconv.FormatUint(n, 10), nil
		}
		return inRange(int64(n), low, high)
	}
}

// parseMemory reads a number of bytes with a unit: 1k is 1000, 1kb 1024. It
// wraps and saturates as C's strtoull and multiplication do.
func parseMemory(s string) (uint64, bool) {
	digits := len(s) - len(strings.TrimLeft(s, "0123456789"))
	var unit uint64
	switch strings.ToLower(s[digits:]) {
	case "", "b":
		unit = 1
	case "k":
		unit = 1e3
	case "kb":
		unit = 1 << 10
	case "m":
		unit = 1e6
	case "mb":
		unit = 1 << 20
	case "g":
		unit = 1e9
	case "gb":
		unit = 1 << 30
	default:
		return 0, false
	}
	n, err := strconv.ParseUint(s[:digits], 10, 64)
	if err != nil && digits > 18 {
		n = math.MaxUint64
	}
	return n * unit, true
}

func octal(in input) (string, error) {
	n, err := strconv.ParseInt(in.words[0], 8, 64)
	if err != nil || n < 0 {
		return "", reason("argument couldn't be parsed as an octal number")
	}
	if n > 0o777 {
		return "", reason("argument must be between 0 and 777 inclusive")
	}
	return strconv.FormatInt(n, 8), nil
}

// portAuto is our own value of port: a free one.
const portAuto = "auto"

func portNumber(in input) (string, error) {
	if strings.EqualFold(in.words[0], portAuto) {
		return portAuto, nil
	}
	return integer(0, 65535)(in)
}

// baseName is the name of a file inside dir.
func baseName(directive, kind string) parser {
	return func(in input) (string, error) {
		if strings.ContainsAny(in.words[0], `/\`) {
			return "", reason(directive + " can't be a path, just a " + kind)
		}
		return in.words[0], nil
	}
}

// clamped takes what p takes and keeps what is out of the bounds at a bound.
func clamped(p parser, low, high int64) parser {
	return func(in input) (string, error) {
		value, err := p(in)
		if err != nil {
			return "", err
		}
		return strconv.FormatInt(min(max(number(value), low), high), 10), nil
	}
}

func directory(in input) (string, error) {
	path := in.words[0]
	if path == "" {
		return "", reason("No such file or directory")
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(in.dir, path)
	}
	switch info, err := os.Stat(path); {
	case err != nil:
		return "", reason("No such file or directory")
	case !info.IsDir():
		return "", reason("Not a directory")
	}
	return filepath.Clean(path), nil
}
