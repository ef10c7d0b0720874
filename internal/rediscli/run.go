package rediscli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/lockredis/lockredis/internal/config"
	"github.com/lockredis/lockredis/resp"
)

const usage = `Usage: redis-cli [OPTIONS] [cmd [arg [arg ...]]]
  -h <hostname>      server's host name (default: 127.0.0.1)
  -p <port>          server's port (default: 6379)
  -s <socket>        server's Unix socket; overrides host name and port
  -a, --pass <password>  password; the environment variable REDISCLI_AUTH is safer
  --user <username>  user of the password
  -u <uri>           redis://[[user:]password@]host[:port][/db], rediss:// for TLS
  --no-auth-warning  no warning about a password in the arguments
  -n <db>            number of the database
  -2, -3             use RESP2 or RESP3
  -r <repeat>        run the command N times; -1: for ever
  -i <interval>      seconds between the runs, such as 0.1
  -x                 read the last argument from standard input
  -e                 exit with status 1 when the command fails
  -d, -D <text>      delimiter of values, and of replies, in raw form (default: \n)
  --raw, --no-raw    form of replies (default: raw when the output is no terminal)
  --tls              connect with TLS
  --cacert <file>, --cacertdir <dir>, --cert <file>, --key <file>, --sni <host>
  --insecure         do not verify the server's certificate
  --help, --version

Without a command, redis-cli reads commands from standard input, one a line.
`

// Process is what Run uses of the process that it is.
type Process struct {
	Args   []string // without the program's name
	Getenv func(string) string

	Stdin          io.Reader
	Stdout, Stderr io.Writer
}

// Run is the program. It returns the exit status: 1 when there is no connection, when
// the arguments are wrong, or when the command fails and -e is given.
func Run(p Process) int {
	o, err := parse(p.Args, p.Getenv)
	switch {
	case err != nil:
		fmt.Fprintln(p.Stderr, err)
		return 1
	case o.version:
		fmt.Fprintln(p.Stdout, "redis-cli "+config.RedisVersion)
		return 0
	case o.help:
		io.WriteString(p.Stdout, "redis-cli "+config.RedisVersion+"\n\n"+usage)
		return 0
	}
	if o.passwordShown && !o.quiet {
		fmt.Fprintln(p.Stderr, "Warning: Using a password with '-a' or '-u' option "+
			"on the command line interface may not be safe.")
	}
	if len(o.command) > 0 && isHelp(o.command[0]) { // without a server, and once
		io.WriteString(p.Stdout, usage)
		return 0
	}
	s := &session{Process: p, options: o}
	defer s.close()
	if !o.raw && !o.standard {
		o.standard = isTerminal(p.Stdout)
	}
	if len(o.command) == 0 {
		s.prompting = isTerminal(p.Stdin) && isTerminal(p.Stdout)
		s.connect() // reports its error; each line tries again
		return s.lines()
	}
	return s.arguments()
}

// isTerminal reports whether file is a terminal: a device, but not the null device.
func isTerminal(file any) bool {
	f, ok := file.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}

// session is one run of the program.
type session struct {
	Process
	*options

	conn      *conn // nil when there is no connection
	prompting bool  // print a prompt before each line
}

// connect opens a connection if there is none, authenticates, and selects protocol
// and database. Only an error that leaves no connection is one for the caller. All
// errors are reported here.
func (s *session) connect() bool {
	if s.conn != nil {
		return true
	}
	c, err := dial(s.options)
	if err != nil {
		fmt.Fprintln(s.Stderr, err)
		return false
	}
	s.conn = c
	if s.password != "" {
		words := []string{"AUTH", s.password}
		if s.withUser {
			words = []string{"AUTH", s.user, s.password}
		}
		if !s.prepare("AUTH failed", words...) {
			return true
		}
	}
	if s.db != 0 {
		db := strconv.Itoa(s.db)
		s.prepare("SELECT "+db+" failed", "SELECT", db)
	}
	if s.proto != 0 {
		proto := strconv.Itoa(s.proto)
		s.prepare("HELLO "+proto+" failed", "HELLO", proto)
	}
	return true
}

// prepare runs a command of the connection's start. It reports an error and returns
// false. The end of the connection is no error: the next command reports that.
func (s *session) prepare(failure string, words ...string) bool {
	r, err := s.conn.ask(words...)
	if err == nil && r.failed() {
		fmt.Fprintf(s.Stderr, "%s: %s\n", failure, r.text)
		return false
	}
	return true
}

func (s *session) close() {
	if s.conn != nil {
		s.conn.Close()
		s.conn = nil
	}
}

// arguments runs the command of the arguments, as often as -r says.
func (s *session) arguments() int {
	command := s.command
	if s.lastFromStdin {
		last, err := io.ReadAll(s.Stdin)
		if err != nil {
			fmt.Fprintln(s.Stderr, "Error: "+err.Error())
			return 1
		}
		command = append(command[:len(command):len(command)], string(last))
	}
	if !s.connect() {
		return 1
	}
	return s.repeated(command, s.repeat, true)
}

// repeated runs a command several times, or for ever if times is negative. once says
// that it comes from the arguments. It returns the exit status.
func (s *session) repeated(command []string, times int, once bool) int {
	for n := 0; times < 0 || n < times; n++ {
		if n > 0 {
			time.Sleep(s.interval)
		}
		if !s.connect() {
			return 1
		}
		ok, err := s.run(command, once)
		if err != nil {
			s.close()
			if strings.EqualFold(command[0], "shutdown") {
				return 0
			}
			fmt.Fprintln(s.Stderr, "Error: "+err.Error())
			return 1
		}
		if !ok && once && s.exitOnError {
			return 1
		}
	}
	return 0
}

// run runs a command once and prints its reply. ok is false when the reply is an
// error. After SUBSCRIBE and MONITOR it prints what comes until the connection ends.
func (s *session) run(command []string, once bool) (ok bool, err error) {
	if err := s.conn.send(command); err != nil {
		return false, err
	}
	endless := false
	switch strings.ToLower(command[0]) {
	case "subscribe", "psubscribe", "ssubscribe":
		endless = true
		if s.standard {
			fmt.Fprintln(s.Stdout, "Reading messages... (press Ctrl-C to quit)")
		}
	case "monitor":
		endless = true
	}
	for answered := false; !answered || endless; {
		r, err := s.conn.receive()
		if err != nil {
			return false, err
		}
		if r.kind == '>' && !endless {
			continue // a message of RESP3; redis-cli shows them on a terminal only
		}
		answered, ok = true, !r.failed()
		endless = endless && ok
		s.print(r, command, once)
	}
	s.remember(command, ok)
	return ok, nil
}

// isHelp reports whether a command is redis-cli's own, which prints its usage.
func isHelp(name string) bool { return strings.EqualFold(name, "help") || name == "?" }

// print prints a reply.
func (s *session) print(r reply, command []string, once bool) {
	var out []byte
	switch {
	case isText(command):
		if out = s.appendRaw(nil, r); len(out) > 0 && out[len(out)-1] != '\n' {
			out = append(out, '\n')
		}
	case !s.standard:
		out = append(s.appendRaw(nil, r), s.commandDelimiter...)
	default:
		out = appendStandard(nil, r, "")
	}
	if r.failed() && once && s.exitOnError {
		s.Stderr.Write(r.text)
		io.WriteString(s.Stderr, "\n")
		return
	}
	s.Stdout.Write(out)
}

// remember keeps what a later connection has to select again.
func (s *session) remember(command []string, ok bool) {
	if !ok || len(command) != 2 {
		return
	}
	switch n, err := strconv.Atoi(command[1]); {
	case err != nil:
	case strings.EqualFold(command[0], "select"):
		s.db = n
	case strings.EqualFold(command[0], "hello"):
		s.proto = n
	}
}

// lines runs the commands of standard input, one a line, until its end or "quit".
func (s *session) lines() int {
	in := bufio.NewReader(s.Stdin)
	for {
		s.prompt()
		line, err := in.ReadString('\n')
		if line != "" && !s.line(strings.TrimRight(line, "\r\n")) {
			return 0
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				fmt.Fprintln(s.Stderr, "Error: "+err.Error())
				return 1
			}
			return 0
		}
	}
}

// prompt prints the prompt of a terminal.
func (s *session) prompt() {
	switch {
	case !s.prompting:
	case s.conn == nil:
		io.WriteString(s.Stdout, "not connected> ")
	case s.db != 0:
		fmt.Fprintf(s.Stdout, "%s[%d]> ", s.address(), s.db)
	default:
		fmt.Fprintf(s.Stdout, "%s> ", s.address())
	}
}

// line runs one line. A number before a command repeats it. more is false after
// "quit" and "exit".
func (s *session) line(line string) (more bool) {
	split, ok := resp.SplitLine([]byte(line))
	if !ok {
		fmt.Fprintln(s.Stdout, "Invalid argument(s)")
		return true
	}
	if len(split) == 0 {
		return true
	}
	words := make([]string, len(split))
	for i, word := range split {
		words[i] = string(word)
	}
	times := 1 // -r repeats only the command of the arguments
	if n, err := strconv.Atoi(words[0]); err == nil && len(words) > 1 {
		if n <= 0 {
			fmt.Fprintln(s.Stdout, "Invalid redis-cli repeat command option value.")
			return true
		}
		times, words = n, words[1:]
	}
	switch name := strings.ToLower(words[0]); {
	case name == "quit" || name == "exit":
		return false
	case isHelp(name):
		io.WriteString(s.Stdout, usage)
	case name == "clear":
		io.WriteString(s.Stdout, "\x1b[H\x1b[2J")
	case name == "connect" && len(words) == 3:
		s.close()
		s.host, s.socket = words[1], ""
		s.port, _ = strconv.Atoi(words[2])
		s.connect()
	default:
		s.repeated(words, times, false)
	}
	return true
}
