//lint:file-ignore ST1005 the texts are redis-cli's

package rediscli

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// options are the parsed arguments.
type options struct {
	host   string
	port   int
	socket string // path of a Unix socket; overrides host and port

	user, password string
	withUser       bool // user was given, perhaps as ""
	db             int
	proto          int // 2 or 3; 0: do not ask for a protocol

	tls                         bool
	sni, caFile, caDir          string
	certFile, keyFile           string
	insecure                    bool
	repeat                      int // runs of the command; negative: for ever
	interval                    time.Duration
	lastFromStdin, exitOnError  bool
	raw, standard, quiet        bool // --raw, --no-raw, --no-auth-warning
	passwordShown               bool // the password is in the arguments
	delimiter, commandDelimiter string
	help, version               bool
	command                     []string
}

// address returns the server's address as redis-cli prints it.
func (o *options) address() string {
	if o.socket != "" {
		return o.socket
	}
	return o.host + ":" + strconv.Itoa(o.port)
}

// network returns the arguments for net.Dial.
func (o *options) network() (network, address string) {
	if o.socket != "" {
		return "unix", o.socket
	}
	return "tcp", net.JoinHostPort(o.host, strconv.Itoa(o.port))
}

// flag is an option without a value; setter is an option with one.
type (
	flag   func(o *options)
	setter func(o *options, value string) error
)

var flags = map[string]flag{
	"-2":                func(o *options) { o.proto = 2 },
	"-3":                func(o *options) { o.proto = 3 },
	"-x":                func(o *options) { o.lastFromStdin = true },
	"-e":                func(o *options) { o.exitOnError = true },
	"--tls":             func(o *options) { o.tls = true },
	"--insecure":        func(o *options) { o.insecure = true },
	"--raw":             func(o *options) { o.raw, o.standard = true, false },
	"--no-raw":          func(o *options) { o.raw, o.standard = false, true },
	"--no-auth-warning": func(o *options) { o.quiet = true },
	"--help":            func(o *options) { o.help = true },
	"-v":                func(o *options) { o.version = true },
	"--version":         func(o *options) { o.version = true },
}

var setters = map[string]setter{
	"-h":          text(func(o *options) *string { return &o.host }),
	"-p":          number(func(o *options) *int { return &o.port }),
	"-s":          text(func(o *options) *string { return &o.socket }),
	"-a":          setPassword,
	"--pass":      setPassword,
	"--user":      setUser,
	"-u":          setURI,
	"-n":          number(func(o *options) *int { return &o.db }),
	"-r":          number(func(o *options) *int { return &o.repeat }),
	"-i":          setInterval,
	"-d":          text(func(o *options) *string { return &o.delimiter }),
	"-D":          text(func(o *options) *string { return &o.commandDelimiter }),
	"--sni":       text(func(o *options) *string { return &o.sni }),
	"--cacert":    text(func(o *options) *string { return &o.caFile }),
	"--cert":      text(func(o *options) *string { return &o.certFile }),
	"--key":       text(func(o *options) *string { return &o.keyFile }),
	"--cacertdir": text(func(o *options) *string { return &o.caDir }),
}

func text(field func(*options) *string) setter {
	return func(o *options, value string) error { *field(o) = value; return nil }
}

// number takes what is not a number for 0, as redis-cli does.
func number(field func(*options) *int) setter {
	return func(o *options, value string) error {
		*field(o), _ = strconv.Atoi(value)
		return nil
	}
}

func setPassword(o *options, value string) error {
	o.password, o.passwordShown = value, true
	return nil
}

func setUser(o *options, value string) error {
	o.user, o.withUser = value, true
	return nil
}

func setInterval(o *options, value string) error {
	seconds, _ := strconv.ParseFloat(value, 64)
	o.interval = time.Duration(seconds * float64(time.Second))
	return nil
}

// setURI reads redis://[[user:]password@]host[:port][/db], or rediss:// for TLS.
// As in redis-cli, a user information without a colon is a password.
func setURI(o *options, value string) error {
	rest, plain := strings.CutPrefix(value, "redis://")
	if !plain {
		var tls bool
		if rest, tls = strings.CutPrefix(value, "rediss://"); !tls {
			return errors.New("Invalid URI scheme")
		}
		o.tls = true
	}
	if info, host, found := strings.Cut(rest, "@"); found {
		rest = host
		user, password, both := strings.Cut(info, ":")
		if !both {
			user, password = "", user
		}
		var err error
		if o.password, err = url.PathUnescape(password); err != nil {
			return errors.New("Incomplete URI encoding")
		}
		if o.withUser = both; both {
			if o.user, err = url.PathUnescape(user); err != nil {
				return errors.New("Incomplete URI encoding")
			}
		}
		o.passwordShown = true
	}
	host, db, found := strings.Cut(rest, "/")
	if found {
		o.db, _ = strconv.Atoi(db)
	}
	host, port, found := strings.Cut(host, ":")
	if found {
		o.port, _ = strconv.Atoi(port)
	}
	if host != "" {
		o.host = host
	}
	return nil
}

// parse reads the arguments. getenv gives the environment. The error's text is
// redis-cli's.
func parse(args []string, getenv func(string) string) (*options, error) {
	o := &options{host: "127.0.0.1", port: 6379, repeat: 1, delimiter: "\n", commandDelimiter: "\n",
		password: getenv("REDISCLI_AUTH")}
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		name := args[0]
		if name == "-h" && len(args) == 1 {
			o.help = true
			return o, nil
		}
		if set, ok := flags[name]; ok {
			set(o)
			args = args[1:]
			continue
		}
		set, ok := setters[name]
		if !ok || len(args) == 1 {
			return nil, fmt.Errorf("Unrecognized option or bad number of args for: '%s'", name)
		}
		if err := set(o, args[1]); err != nil {
			return nil, err
		}
		args = args[2:]
	}
	o.command = args
	return o, nil
}
