package scripts

import (
	"crypto/sha1"
	"embed"
	"encoding/hex"
	"fmt"
	"strings"
	"time"
)

//go:embed lua
var files embed.FS

// Locks. The plain scripts serve fenced and spin locks too.
var (
	PlainAcquire  = mustLoad("plain_acquire")
	PlainRelease  = mustLoad("plain_release")
	PlainForce    = mustLoad("plain_force")
	PlainRenew    = mustLoad("plain_renew")
	FencedAcquire = mustLoad("fenced_acquire")
	FairAcquire   = mustLoad("fair_acquire")
	FairRelease   = mustLoad("fair_release")
	FairForce     = mustLoad("fair_force")
	ReadAcquire   = mustLoad("read_acquire")
	ReadRelease   = mustLoad("read_release")
	ReadRenew     = mustLoad("read_renew")
	ReadLocked    = mustLoad("read_locked")
	WriteAcquire  = mustLoad("write_acquire")
	WriteRelease  = mustLoad("write_release")
	WriteRenew    = mustLoad("write_renew")
	WriteLocked   = mustLoad("write_locked")
	RWForce       = mustLoad("rw_force")
)

// Semaphores, count-down latches and rate limiters.
var (
	PermitSet       = mustLoad("permit_set")
	PermitAdd       = mustLoad("permit_add")
	PermitAcquire   = mustLoad("permit_acquire")
	PermitRelease   = mustLoad("permit_release")
	PermitUndo      = mustLoad("permit_undo")
	PermitUpdate    = mustLoad("permit_update")
	PermitLeaseTime = mustLoad("permit_lease_time")
	PermitCount     = mustLoad("permit_count")
	CounterCreate   = mustLoad("counter_create")
	SemAcquire      = mustLoad("sem_acquire")
	SemUndo         = mustLoad("sem_undo")
	SemAdd          = mustLoad("sem_add") // Release, and Add
	SemDrain        = mustLoad("sem_drain")
	CountdownDown   = mustLoad("countdown_down")
	RateTrySet      = mustLoad("rate_try_set")
	RateSet         = mustLoad("rate_set")
	RateAcquire     = mustLoad("rate_acquire")
	RateUndo        = mustLoad("rate_undo")
	RateRelease     = mustLoad("rate_release")
	RateAvailable   = mustLoad("rate_available")
)

// Any kind.
var (
	Seal    = mustLoad("seal")
	ReadKey = mustLoad("read_key")
)

// Over is an acquire script's reply that the claim is over: released, undone, or its waiter
// left. In a table it is the first element.
const Over = -4

// Script is a Lua script.
type Script struct {
	Name string   // of the file, without .lua
	Body string   // what EVAL sends
	SHA  any      // the string that EVALSHA sends, as a command takes it
	Keys []string // names of the keys; the last may end in "..."
	Args []string // names of the arguments; the last may end in "..."

	optional int // the number of last arguments that may be left out, all of them together
}

// LatchLife is the time to live of a claim's latch in a release script without the argument
// life.
const LatchLife = 5 * time.Minute

// Check returns an error if a call with these numbers of keys and arguments does not fit s.
func (s *Script) Check(keys, args int) error {
	if fixed, variadic := fixed(s.Keys); keys < fixed || keys > fixed && !variadic {
		return fmt.Errorf("rlock: script %s: %d keys, want %d: %s",
			s.Name, keys, len(s.Keys), strings.Join(s.Keys, " "))
	}
	fixed, variadic := fixed(s.Args)
	if args < fixed && args != fixed-s.optional || args > fixed && !variadic {
		return fmt.Errorf("rlock: script %s: %d arguments, want %d: %s",
			s.Name, args, len(s.Args), strings.Join(s.Args, " "))
	}
	return nil
}

// fixed returns how many keys or arguments a script always has, and whether more may follow.
func fixed(names []string) (n int, variadic bool) {
	n = len(names)
	if n > 0 && strings.HasSuffix(names[n-1], "...") {
		return n - 1, true
	}
	return n, false
}

// mustLoad reads the script of the given name. It panics if the file has no complete
// head, or includes a file that does not exist.
func mustLoad(name string) *Script {
	s, err := load(name)
	if err != nil {
		panic(err)
	}
	return s
}

func load(name string) (*Script, error) {
	body, err := expand(name)
	if err != nil {
		return nil, fmt.Errorf("load script %s: %w", name, err)
	}
	sum := sha1.Sum([]byte(body))
	s := &Script{Name: name, Body: body, SHA: hex.EncodeToString(sum[:])}
	if s.Keys, err = namesIn(body, "-- KEYS:"); err == nil {
		s.Args, err = namesIn(body, "-- ARGV:")
	}
	for i, name := range s.Args {
		if strings.HasPrefix(name, "[") {
			s.optional = len(s.Args) - i
		}
		s.Args[i] = strings.Trim(name, "[]")
	}
	if err != nil {
		return nil, fmt.Errorf("load script %s: %w", name, err)
	}
	return s, nil
}

// namesIn returns the words after prefix, in the only line that begins with it.
func namesIn(body, prefix string) ([]string, error) {
	_, after, found := strings.Cut(body, "\n"+prefix)
	line, rest, _ := strings.Cut(after, "\n")
	if !found || strings.Contains(rest, "\n"+prefix) {
		return nil, fmt.Errorf("want one line %q", prefix)
	}
	return strings.Fields(line), nil
}

// expand returns the text of a file, with the files that it includes.
func expand(name string) (string, error) {
	text, err := files.ReadFile("lua/" + name + ".lua")
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for line := range strings.Lines(string(text)) {
		fragment, ok := strings.CutPrefix(line, "-- include: ")
		if !ok {
			b.WriteString(line)
			continue
		}
		included, err := expand("fragments/" + strings.TrimSpace(fragment))
		if err != nil {
			return "", err
		}
		b.WriteString(included)
	}
	return b.String(), nil
}
