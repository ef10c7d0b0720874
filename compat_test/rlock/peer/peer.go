package peer

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	// startLimit is how long a JVM may take to connect its Redisson client.
	startLimit = 60 * time.Second

	// answerLimit is the limit of Wait.
	answerLimit = 60 * time.Second
)

// ErrGone is the error of a step whose JVM ended before it answered.
var ErrGone = errors.New("the Java peer is gone")

// Peer is a JVM with one Redisson client.
type Peer struct {
	// ID is the client's id, the first part of its owners' names.
	ID string

	process *exec.Cmd
	lines   io.Writer
	ended   chan struct{}

	mu      sync.Mutex // guards the fields below, and writes to the JVM's input
	last    int
	waiting map[int]chan Answer
	dead    bool
	said    strings.Builder // its standard error
}

// Answer is the answer of a step.
type Answer struct {
	Result string
	Err    error // ErrGone, or a *Failure

	// Begun and Ended are when the Java thread began and ended the step, on the
	// machine's clock.
	Begun, Ended time.Time
}

// Failure is an exception thrown by a step.
type Failure struct{ Exception string }

// Error returns the exception as Java prints it, on one line.
func (f *Failure) Error() string { return f.Exception }

// Option changes the configuration of a peer's client.
type Option string

// Watchdog sets the lease that the watchdog renews, Redisson's lockWatchdogTimeout.
func Watchdog(lease time.Duration) Option { return option("watchdog", lease.Milliseconds()) }

// Timeout sets how long the client waits for a reply.
func Timeout(d time.Duration) Option { return option("timeout", d.Milliseconds()) }

func option(name string, value int64) Option { return Option(fmt.Sprintf("%s=%d", name, value)) }

// Start builds the peer for a Redisson release and starts it. It returns when the peer is
// connected. The end of the test stops the peer. servers is the result of
// Topology.Redisson.
func Start(tb testing.TB, release string, servers []string, options ...Option) *Peer {
	tb.Helper()
	Need(tb)
	words := []string{"--add-opens", "java.base/java.lang=ALL-UNNAMED", "-XX:TieredStopAtLevel=1",
		"-XX:+UseSerialGC", "-Xmx192m",
		"-Dorg.slf4j.simpleLogger.defaultLogLevel=error", "-cp", build(tb, release), "lockredis.PeerMain"}
	words = append(words, servers...)
	for _, o := range options {
		words = append(words, string(o))
	}
	p := &Peer{process: exec.Command("java", words...), ended: make(chan struct{}),
		waiting: map[int]chan Answer{}}
	ready := p.expect(0)
	p.launch(tb)
	tb.Cleanup(p.Kill)
	answer := p.wait(ready, startLimit)
	if answer.Err != nil {
		tb.Fatalf("Java peer %s: %v\n%s", release, answer.Err, p.stderr())
	}
	p.ID = answer.Result
	return p
}

func (p *Peer) launch(tb testing.TB) {
	tb.Helper()
	in, err := p.process.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	out, err := p.process.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	p.lines = in
	p.process.Stderr = (*stderr)(p)
	if err := p.process.Start(); err != nil {
		tb.Fatal(err)
	}
	go p.read(out)
}

// read passes each answer to its step until the JVM ends.
func (p *Peer) read(out io.Reader) {
	defer close(p.ended)
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		id, answer, err := parse(lines.Text())
		if err != nil {
			(*stderr)(p).Write([]byte(lines.Text() + "\n"))
			continue
		}
		p.mu.Lock()
		waiting := p.waiting[id]
		delete(p.waiting, id)
		p.mu.Unlock()
		if waiting != nil {
			waiting <- answer
		}
	}
	p.process.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dead = true
	for id, waiting := range p.waiting {
		waiting <- Answer{Err: ErrGone}
		delete(p.waiting, id)
	}
}

// parse reads "id begun ended ok|failed result".
func parse(line string) (id int, answer Answer, err error) {
	words := strings.SplitN(line, " ", 5)
	if len(words) < 4 {
		return 0, answer, fmt.Errorf("not an answer: %q", line)
	}
	var numbers [3]int64
	for i := range numbers {
		if numbers[i], err = strconv.ParseInt(words[i], 10, 64); err != nil {
			return 0, answer, err
		}
	}
	if len(words) == 5 {
		answer.Result = words[4]
	}
	if words[3] == "failed" {
		answer = Answer{Err: &Failure{answer.Result}}
	}
	answer.Begun, answer.Ended = time.Unix(0, numbers[1]), time.Unix(0, numbers[2])
	return int(numbers[0]), answer, nil
}

func (p *Peer) expect(id int) chan Answer {
	answer := make(chan Answer, 1)
	p.waiting[id] = answer
	return answer
}

// send sends a step to a thread.
func (p *Peer) send(thread string, words []any) chan Answer {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last++
	answer := p.expect(p.last)
	line := fmt.Sprintln(append([]any{p.last, thread}, words...)...)
	if _, err := io.WriteString(p.lines, line); err != nil || p.dead {
		delete(p.waiting, p.last)
		answer <- Answer{Err: ErrGone}
	}
	return answer
}

func (p *Peer) wait(answer chan Answer, limit time.Duration) Answer {
	select {
	case a := <-answer:
		return a
	case <-time.After(limit):
		return Answer{Err: fmt.Errorf("no answer from Java within %s\n%s", limit, p.stderr())}
	}
}

// Kill kills the JVM, as a crash does: its locks stay until their leases end. A second
// call does nothing.
func (p *Peer) Kill() {
	p.process.Process.Kill()
	<-p.ended
}

// stderr returns the last lines of the JVM's standard error.
type stderr Peer

func (e *stderr) Write(text []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.said.Write(text)
}

func (p *Peer) stderr() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.said.String()
}
