package config

import "strings"

// directive is a row of the table. It holds everything about one directive.
type directive struct {
	name    string
	alias   string        // the older name, "": none
	parse   parser        // checks what is given and returns the value to keep
	def     string        // the value at the start
	initial func() string // the same when the process decides it, nil: def
	flags   flags

	// lines are the lines of CONFIG REWRITE without the name, for a directive that may have
	// several. nil: one line.
	lines func(value string) []fileLine

	set    func(c *Config, value string) // sets the field that follows, nil: none
	change Change                        // what acts after CONFIG SET, 0: nothing
	show   func(value string) string     // the value as CONFIG GET shows it, nil: as it is

	refuse string                   // why values other than def are refused, "": they are not
	unless func(c *Config) string   // "": Check accepts what refuse is about, else why not; nil: refuse holds
	canSet func(value string) error // what only CONFIG SET refuses, nil: nothing

	idle string // why the value has no effect, "": it has one, or is refused

	// For docs/directives.md.
	defDoc string // how def reads there, "": as it is
	note   string
}

type flags uint16

const (
	immutable   flags = 1 << iota // set only at the start
	protected                     // CONFIG SET needs enable-protected-configs
	multi                         // the value is a list of words
	own                           // lockredis's own, not a directive of Redis
	volatile                      // names a file: setting the same name reads the file again
	bareOption                    // as an option without a value it is empty
	writesEmpty                   // CONFIG REWRITE keeps a line with an empty text
	noDefault                     // its default cannot be written in a file: Rewrite leaves it out
	secret                        // SLOWLOG and MONITOR do not show its value
	hidden                        // a pattern of CONFIG GET does not find it
)

func (d *directive) has(f flags) bool { return d.flags&f != 0 }

// start returns the value of a new Config.
func (d *directive) start() string {
	if d.initial != nil {
		return d.initial()
	}
	return d.def
}

func (d *directive) shown(value string) string {
	if d.show == nil {
		return value
	}
	return d.show(value)
}

// check runs the parser and refuses what lockredis does not have.
func (d *directive) check(in input) (string, error) {
	value, err := d.parse.check(in)
	if err == nil && d.refuses(value) {
		err = reason(d.refuse)
	}
	return value, err
}

func (d *directive) refuses(value string) bool { return d.refuse != "" && value != d.def }

// split returns the words of a value that is given as one argument.
func (d *directive) split(value string) []string {
	if !d.has(multi) {
		return []string{value}
	}
	if value == "" {
		return nil
	}
	return strings.Split(value, " ")
}

// table is what a Config knows: directives, and lines of other kinds.
type table struct {
	directives []directive
	statements []statement
	positions  map[string]int // in directives, by name and by alias
}

// standard is the table of every Config outside of tests.
var standard = newTable(directives, statements)

func newTable(directives []directive, statements []statement) *table {
	t := &table{directives, statements, make(map[string]int, 2*len(directives))}
	for i := range directives {
		d := &directives[i]
		t.positions[d.name] = i
		if d.alias != "" {
			t.positions[d.alias] = i
		}
	}
	return t
}

// find returns the position of the directive with this name or alias, in any
// case.
func (t *table) find(name string) (position int, ok bool) {
	position, ok = t.positions[strings.ToLower(name)]
	return position, ok
}

// Secret reports whether the value of the directive with this name, in any case, must not be
// shown.
func (c *Config) Secret(name string) bool {
	i, ok := c.table.find(name)
	return ok && directives[i].has(secret)
}

// statement returns the statement with this name in lower case, nil when there is
// none.
func (t *table) statement(name string) *statement {
	for i := range t.statements {
		if s := &t.statements[i]; s.name == name {
			return s
		}
	}
	return nil
}

// Why lockredis refuses a directive that Redis acts on. To accept it without
// effect would be a lie.
const (
	noDaemon         = "lockredis does not detach itself: start it in the background"
	noParentOfDaemon = "lockredis does not detach itself with exit-with-parent yes: leave one of them out"
	noModules        = "lockredis loads no modules"
	noSyslog         = "lockredis does not write to syslog: use logfile or standard output"
	noClientEviction = "lockredis evicts no clients: use client-output-buffer-limit"
	noSocketMark     = "lockredis does not mark sockets"
	noDHE            = "lockredis has no Diffie-Hellman over finite fields: TLS uses elliptic curves"
	noRebind         = "lockredis does not change its listeners while it runs"
)

// Why a directive is accepted without effect: there is nothing that it could act on, and
// no client notices the difference.
const (
	idleAOF         = "no append-only file"
	idleBus         = "no connections to other nodes"
	idleCrash       = "Go reports a crash"
	idleDefrag      = "Go's memory is not defragmented"
	idleExpiry      = "keys expire at their millisecond"
	idleHost        = "the process leaves settings of the system as they are"
	idleListen      = "Go chooses the length"
	idleLogo        = "there is no logo"
	idlePropagation = "nothing is propagated"
	idleRehash      = "hash tables grow at once"
	idleReplication = "the file for a replica is sent at once, and read into memory"
	idleSync        = "the file is synced once"
	idleThreads     = "Go's scheduler places goroutines on threads"
	idleTicks       = "there is no periodic task: a timer waits for the next deadline"
	idleTickets     = "TLS sessions are resumed by tickets, and the client's order of ciphers counts"
	idleShutdown    = "nothing delays the end"
	idleHidden      = "Redis's own tests set it; " + noteHidden
	idleSyslog      = "there is no syslog"
)

// noteHidden is the note of directives that a pattern of CONFIG GET does not find.
const noteHidden = "only its full name finds it in CONFIG GET"

// countsFreed is the note of the lazyfree-lazy directives.
const countsFreed = "has INFO count in `lazyfreed_objects`; the garbage collector frees all values"

// reason is an error with a text for a client or the operator. The text is Redis's,
// or lockredis's own where Redis has none.
type reason string

// Error returns the text.
func (r reason) Error() string { return string(r) }

const (
	errWords  = reason("wrong number of arguments")
	errDefrag = reason("Active defragmentation cannot be enabled: " +
		"it requires a Redis server compiled with a modified Jemalloc " +
		"like the one shipped by default with the Redis source distribution")
)

// notRebound is what CONFIG SET answers for the directives of the listeners.
func notRebound(string) error { return reason(noRebind) }

// notDefragmented refuses to turn defragmentation on, as Redis does when it is
// built without its own jemalloc.
func notDefragmented(value string) error {
	if value == "yes" {
		return errDefrag
	}
	return nil
}
