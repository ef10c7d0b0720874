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

// parser is the form of a directive's values.
type parser struct {
	// check checks the words that are given and returns the value to keep. An error's text
	// is Redis's. A parser takes its own values back unchanged.
	check func(in input) (string, error)

	// form returns the value as CONFIG REWRITE writes it. nil: words, with quotes where a
	// word needs them.
	form func(value string) string
}

// input is what a parser reads.
type input struct {
	name   string   // the directive's
	words  []string // one word, unless the directive is multi
	old    string   // the present value
	again  bool     // an earlier line of the configuration file has set the directive, see Config.included
	loaded bool     // the value is from a file or from the command line
	dir    string   // the working directory

	value func(name string) string // the present value of another directive
}

// cString returns s up to its first NUL byte: Redis reads most values as C strings.
func cString(s string) string {
	s, _, _ = strings.Cut(s, "\x00")
	return s
}

// The parsers of the table without bounds of their own.
var (
	text            = parser{check: parseText, form: quote}
	binary          = parser{check: parseBinary, form: quote}
	yesNo           = parser{check: parseYesNo}
	parent          = parser{check: parseParent}
	octal           = parser{check: parseOctal}
	portNumber      = parser{check: parsePortNumber}
	directory       = parser{check: parseDirectory, form: quote}
	savePoints      = parser{check: parseSavePoints}
	addresses       = parser{check: parseAddresses}
	replicaOf       = parser{check: parseReplicaOf}
	bufferLimits    = parser{check: parseBufferLimits}
	eventClasses    = parser{check: parseEventClasses, form: quote}
	oomScores       = parser{check: parseOomScores}
	percentiles     = parser{check: parsePercentiles}
	oomMode         = parser{check: parseOomMode}
	memoryOrPercent = parser{check: parseMemoryOrPercent, form: sizeForm}
	shutdownOptions = parser{check: parseShutdownOptions}
	hostName        = parser{check: parseHostName, form: quote}
	titleTemplate   = parser{check: parseTitleTemplate, form: quote}
	slotList        = parser{check: parseSlotList}
	topology        = parser{check: checkTopology}
	watchdogPeriod  = parser{check: parseWatchdogPeriod}
)

// none reports whether a multi directive was given an empty value.
func (in input) none() bool {
	return len(in.words) == 0 || len(in.words) == 1 && in.words[0] == ""
}

func parseText(in input) (string, error) { return cString(in.words[0]), nil }

// parseBinary takes every byte. The passwords are such values.
func parseBinary(in input) (string, error) { return in.words[0], nil }

// yes is the value of a directive that is on.
const yes = "yes"

func parseYesNo(in input) (string, error) {
	switch v := strings.ToLower(cString(in.words[0])); v {
	case "yes", "no":
		return v, nil
	}
	return "", reason("argument must be 'yes' or 'no'")
}

// parseParent takes yes, no or a process id.
func parseParent(in input) (string, error) {
	if pid, ok := resp.ParseInt([]byte(in.words[0])); ok && pid > 0 && pid <= math.MaxInt32 {
		return in.words[0], nil
	}
	v, err := parseYesNo(in)
	if err != nil {
		return "", reason("argument must be 'yes', 'no' or a process id")
	}
	return v, nil
}

// oneOf takes one of the choices in any case.
func oneOf(choices ...string) parser {
	return parser{check: func(in input) (string, error) {
		v := strings.ToLower(cString(in.words[0]))
		for _, c := range choices {
			if c == v {
				return v, nil
			}
		}
		return "", errNotOneOf(choices)
	}}
}

func errNotOneOf(choices []string) error {
	return reason("argument(s) must be one of the following: " + strings.Join(choices, ", "))
}

func integer(low, high int64) parser {
	return parser{check: func(in input) (string, error) {
		n, ok := resp.ParseInt([]byte(in.words[0]))
		if !ok {
			return "", reason("argument couldn't be parsed into an integer")
		}
		return inRange(n, low, high)
	}}
}

func inRange(n, low, high int64) (string, error) {
	if n < low || n > high {
		return "", reason(fmt.Sprintf("argument must be between %d and %d inclusive", low, high))
	}
	return strconv.FormatInt(n, 10), nil
}

// unsigned is the upper bound of sizes that use all 64 bits.
const unsigned = -1

// memory takes a size with a unit and keeps it in bytes.
func memory(low, high int64) parser {
	return parser{check: func(in input) (string, error) {
		n, ok := ParseMemory(in.words[0])
		switch {
		case !ok:
			return "", reason("argument must be a memory value")
		case high == unsigned:
			return strconv.FormatUint(n, 10), nil
		}
		return inRange(int64(n), low, high)
	}, form: sizeForm}
}

// sizeForm returns a size with the largest unit that divides it. A percentage stays.
func sizeForm(value string) string {
	n, err := strconv.ParseUint(value, 10, 64)
	if err != nil || n == 0 {
		return value
	}
	for _, unit := range []string{"gb", "mb", "kb"} {
		if n%units[unit] == 0 {
			return strconv.FormatUint(n/units[unit], 10) + unit
		}
	}
	return value
}

// units are the units of sizes, in bytes.
var units = map[string]uint64{
	"": 1, "b": 1, "k": 1e3, "kb": 1 << 10, "m": 1e6, "mb": 1 << 20, "g": 1e9, "gb": 1 << 30,
}

// ParseMemory reads a number of bytes with a unit: 1k is 1000, 1kb is 1024. It
// saturates as C's strtoull does and wraps as C's multiplication does.
func ParseMemory(s string) (uint64, bool) {
	s = cString(s)
	digits := len(s) - len(strings.TrimLeft(s, "0123456789"))
	unit, ok := units[strings.ToLower(s[digits:])]
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseUint(s[:digits], 10, 64)
	if err != nil && digits > 18 {
		n = math.MaxUint64
	}
	return n * unit, true
}

// parseOctal takes the permissions of a file. "" is 0.
func parseOctal(in input) (string, error) {
	n, err := strtoll(in.words[0], 8)
	if err != nil {
		return "", reason("argument couldn't be parsed as an octal number")
	}
	if n < 0 || n > 0o777 {
		return "", reason("argument must be between 0 and 777 inclusive")
	}
	return strconv.FormatInt(n, 8), nil
}

// portAuto is a value that Redis lacks: the server takes a free port.
const portAuto = "auto"

// parsePortNumber takes a TCP port or portAuto.
func parsePortNumber(in input) (string, error) {
	if strings.EqualFold(in.words[0], portAuto) {
		return portAuto, nil
	}
	return integer(0, 65535).check(in)
}

// baseName takes the name of a file in dir. kind is Redis's word for that file.
func baseName(kind string) parser {
	return parser{check: func(in input) (string, error) {
		name := cString(in.words[0])
		if strings.ContainsAny(name, `/\`) {
			return "", reason(in.name + " can't be a path, just a " + kind)
		}
		return name, nil
	}, form: quote}
}

// filledName is baseName without the empty name.
func filledName(kind string) parser {
	base := baseName(kind)
	return parser{form: base.form, check: func(in input) (string, error) {
		if cString(in.words[0]) == "" {
			return "", reason(in.name + " can't be empty")
		}
		return base.check(in)
	}}
}

// clamped takes what p takes. A number beyond a bound is kept as that bound.
func clamped(p parser, low, high int64) parser {
	return parser{form: p.form, check: func(in input) (string, error) {
		value, err := p.check(in)
		if err != nil {
			return "", err
		}
		return strconv.FormatInt(min(max(number(value), low), high), 10), nil
	}}
}

// backlogSize takes a size. CONFIG SET raises it to 16 KB, a configuration file does not.
var backlogSize = func() parser {
	given := memory(1, math.MaxInt64)
	raised := clamped(given, 16384, math.MaxInt64)
	return parser{form: given.form, check: func(in input) (string, error) {
		if in.loaded {
			return given.check(in)
		}
		return raised.check(in)
	}}
}()

// parseWatchdogPeriod takes ms. Redis raises a period to twice the time between its ticks.
func parseWatchdogPeriod(in input) (string, error) {
	p := integer(0, math.MaxInt32)
	if hz := number(in.value("hz")); hz > 0 && in.words[0] != "0" {
		p = clamped(p, 2*(1000/hz), math.MaxInt32)
	}
	return p.check(in)
}

// parseDirectory takes an existing directory and keeps its absolute path.
func parseDirectory(in input) (string, error) {
	path := cString(in.words[0])
	if path == "" {
		return "", reason("No such file or directory")
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(in.dir, path)
	}
	switch info, err := os.Stat(path); {
	case err != nil:
		return "", reason(SystemText(err))
	case !info.IsDir():
		return "", reason("Not a directory")
	}
	return filepath.Clean(path), nil
}

// workingDirectory is the value of dir at the start, "" when the system does not
// tell it.
func workingDirectory() string {
	wd, _ := os.Getwd()
	return wd
}

// number reads a checked number. A number beyond int64 counts as its maximum, and
// a word, such as "auto", as 0.
func number(value string) int64 {
	n, _ := strconv.ParseInt(value, 10, 64)
	return n
}

// whole reads a checked number as an int. Where an int has 32 bits, a number outside of its range
// counts as the end of the range.
func whole(value string) int { return int(min(max(number(value), math.MinInt), math.MaxInt)) }

// bytes reads a checked number that uses all 64 bits.
func bytes(value string) uint64 {
	n, _ := strconv.ParseUint(value, 10, 64)
	return n
}

// fileMode reads a checked octal number.
func fileMode(value string) os.FileMode {
	perm, _ := strconv.ParseUint(value, 8, 32)
	return os.FileMode(perm)
}
