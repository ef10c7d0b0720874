package lockredistest

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/lockredis/lockredis/internal/glob"
	"github.com/lockredis/lockredis/internal/inspect"
	"github.com/lockredis/lockredis/resp"
)

// maxLeakTexts is how many leaks the error of a check describes. It counts the others.
const maxLeakTexts = 20

// manyLeaks is the number of locks and leaks with which a look takes long. Then the check looks again
// only once.
const manyLeaks = 1000

// graceTries is how often the check for leaks looks again. The pauses are 1 ms, 2 ms, 4 ms
// and so on, half a second in all. The server notices the end of a connection a little later
// than the client that closed it.
const graceTries = 9

// handOverTries is how often the check looks whether a waiter acquires what was released at the test's
// end: an eighth of a second in all.
const handOverTries = 7

// scriptGrace is how long the check waits for a running script before it ends the script.
const scriptGrace = 5 * time.Second

var errScript = errors.New("lockredistest: a script still ran when the test ended; it was killed")

// leak is one leak of the test, such as a held lock.
type leak struct {
	id       any           // stays the same from one look to the next
	text     func() string // one sentence
	deadline int64         // the end of a lock's lease, in Unix ms; 0: none
}

// awaitScript waits for a running script. If the script does not end, it is killed, and
// awaitScript returns errScript.
func (s *Server) awaitScript() error {
	overrun := time.AfterFunc(scriptGrace, within(s).Interrupt)
	within(s).Call(0, resp.Args{[]byte("PING")}, func(resp.Reply) {}) // runs when the script has ended
	if !overrun.Stop() {
		return errScript
	}
	return nil
}

// knowLocks tells the inspector what locks of this test look like.
func (s *Server) knowLocks() {
	host, _ := os.Hostname() // "" on an error, which is no host
	within(s).Inspector.KnowProcess(host, os.Getpid())
	within(s).Inspector.KnowLocks(func(key string) bool {
		return matches(s.opts.lockKeys, key) && !matches(s.opts.dataKeys, key)
	})
}

// checkLeaks returns an error that names the leaks, nil without leaks. subscribed are leaks
// that were found before. Leaks may disappear during the grace period. A lock that only
// expires in that time is a leak, because its holder did not release it.
func (s *Server) checkLeaks(subscribed []leak) error {
	if err := s.awaitScript(); err != nil {
		return err
	}
	var left []leak
	await(func(try int) (found, work int) {
		seen, now, work := s.leaks()
		if try == 0 {
			left = seen
		} else {
			left = merged(left, seen, now)
		}
		return len(left), work
	})
	left = append(subscribed, without(left, subscribed)...)
	if len(left) == 0 {
		return nil
	}
	var texts []string
	for _, l := range left[:min(len(left), maxLeakTexts)] {
		texts = append(texts, l.text())
	}
	slices.Sort(texts)
	if n := len(left) - len(texts); n > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", n))
	}
	return errors.New("lockredistest: left behind (AllowLeaks turns this check off):\n\t" +
		strings.Join(texts, "\n\t"))
}

// await calls look until it finds nothing, during the grace period. try counts from 0. work is how much
// look has looked at.
func await(look func(try int) (found, work int)) {
	for try := 0; ; try++ {
		found, work := look(try)
		if found == 0 || try >= graceTries {
			return
		}
		pause := time.Millisecond << try
		if work > manyLeaks {
			pause = time.Millisecond << graceTries
			try = graceTries - 1
		}
		time.Sleep(pause)
	}
}

// merged brings the leaks that were left before another look up to date, and adds its new ones. A leak of the
// first look stays if its lease has ended at now, unless a look between saw it released or renewed.
func merged(before, found []leak, now int64) (left []leak) {
	again := make(map[any]leak, len(found))
	for _, l := range found {
		again[l.id] = l
	}
	for _, l := range before {
		still, ok := again[l.id]
		if ok && l.deadline > 0 {
			l.deadline = still.deadline
		}
		if ok || l.deadline > 0 && l.deadline <= now {
			left = append(left, l)
		}
	}
	for _, l := range without(found, left) {
		l.deadline = 0 // of a lock that was acquired after the test
		left = append(left, l)
	}
	return left
}

// without returns the leaks that are not among others.
func without(leaks, others []leak) (left []leak) {
	known := ids(others)
	for _, l := range leaks {
		if !known[l.id] {
			left = append(left, l)
		}
	}
	return left
}

func ids(leaks []leak) map[any]bool {
	set := make(map[any]bool, len(leaks))
	for _, l := range leaks {
		set[l.id] = true
	}
	return set
}

// leaks returns the leaks of the test if it ended now, the server's time in Unix ms, and how much there
// was to look at.
func (s *Server) leaks() (found []leak, now int64, work int) {
	var seen inspect.Snapshot
	var named []inspect.Key
	within(s).Inspector.Enter(func(v inspect.View) {
		seen = v.Look()
		if len(s.opts.lockKeys) > 0 {
			named = v.Keys(func(name string) bool { return matches(s.opts.lockKeys, name) })
		}
	})
	leaks := seen.Leaks()
	found = make([]leak, 0, len(leaks)+len(named))
	for i := range leaks {
		if l := &leaks[i]; !l.OfLock() || !matches(s.opts.dataKeys, l.Name) {
			found = append(found, leak{id: l.ID(), text: l.Text, deadline: l.Deadline})
		}
	}
	return append(found, s.keyLeaks(named, seen.Locks)...), seen.Now, len(seen.Locks) + len(found) + len(named)
}

// keyLeaks returns the keys that the option LockKeys names, except the locks.
func (s *Server) keyLeaks(named []inspect.Key, locks []inspect.Lock) (found []leak) {
	if len(named) == 0 {
		return nil
	}
	known := make(map[inspect.Key]bool, len(locks))
	for i := range locks {
		known[inspect.Key{DB: locks[i].DB, Name: locks[i].Name}] = true
	}
	for _, key := range named {
		if !known[key] && !matches(s.opts.dataKeys, key.Name) {
			found = append(found, leak{id: key, text: func() string { return s.keyText(key) }})
		}
	}
	return found
}

// keyText describes a key that the option LockKeys names.
func (s *Server) keyText(key inspect.Key) string {
	i := slices.IndexFunc(s.opts.lockKeys, func(p string) bool { return glob.Match(p, key.Name, false) })
	return fmt.Sprintf("key %q%s%s exists and LockKeys(%q) says it is a lock", key.Name,
		inspect.InDatabase(key.DB), s.db(key.DB).holding(key.Name), s.opts.lockKeys[i])
}

// holding returns ", held by <value>," for a string, "" for other keys.
func (k *Keyspace) holding(key string) string {
	v, err := k.Get(key)
	if err != nil {
		return ""
	}
	return fmt.Sprintf(", held by %q,", v)
}

// matches reports whether one of the patterns matches the name.
func matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return glob.Match(p, name, false) })
}

// subscriptionLeaks returns the subscriptions that clients have, after the grace period if there
// are any. It is called before the clients of Server.Client are closed: that would end their
// subscriptions too. It also gives waiters a moment to acquire what the test released last: the waiter
// holds it then, and checkLeaks finds it.
func (s *Server) subscriptionLeaks() (left []leak) {
	await(func(try int) (found, work int) {
		var seen inspect.Snapshot
		within(s).Inspector.Enter(func(v inspect.View) {
			if len(v.Clients()) > 0 {
				seen = v.Look()
			}
		})
		left = nil
		mayAcquire := 0
		for _, l := range seen.AllLeaks() {
			if l.MayAcquire() && try < handOverTries {
				mayAcquire++
			}
			if l.Type == inspect.SubscriptionLeak && !l.Idle {
				left = append(left, leak{id: l.ID(), text: l.Text})
			}
		}
		return len(left) + mayAcquire, len(seen.Locks) + len(left)
	})
	return left
}
