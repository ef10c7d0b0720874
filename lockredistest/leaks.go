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

// graceTries is how often the check for leaks looks again. The pauses are 1 ms, 2 ms, 4 ms
// and so on, half a second in all. The server notices the end of a connection a little later
// than the client that closed it.
const graceTries = 9

// scriptGrace is how long the check waits for a running script before it ends the script.
const scriptGrace = 5 * time.Second

var errScript = errors.New("lockredistest: a script still ran when the test ended; it was killed")

// leak is one leak of the test, such as a held lock.
type leak struct {
	text     string
	deadline int64 // the end of a lock's lease, in Unix ms; 0: none
}

// awaitScript waits for a running script. If the script does not end, it is killed, and
// awaitScript returns errScript.
func (s *Server) awaitScript() error {
	overrun := time.AfterFunc(scriptGrace, s.inside.Interrupt)
	s.inside.Call(0, resp.Args{[]byte("PING")}, func(resp.Reply) {}) // runs when the script has ended
	if !overrun.Stop() {
		return errScript
	}
	return nil
}

// knowLocks tells the inspector what locks of this test look like.
func (s *Server) knowLocks() {
	host, _ := os.Hostname() // "" on an error, which is no host
	s.inside.Inspector.KnowProcess(host, os.Getpid())
	s.inside.Inspector.KnowLocks(func(key string) bool {
		return matches(s.opts.lockKeys, key) && !matches(s.opts.dataKeys, key)
	})
}

// checkLeaks returns an error that names the leaks, nil without leaks. subscribed are leaks
// that were found before. Leaks may disappear during the grace period. A lock that only
// expires in that time is a leak, because its holder did not release it.
func (s *Server) checkLeaks(subscribed map[string]leak) error {
	if err := s.awaitScript(); err != nil {
		return err
	}
	first, _ := s.leaks()
	left := first
	for try := 0; len(left) > 0 && try < graceTries; try++ {
		time.Sleep(time.Millisecond << try)
		found, now := s.leaks()
		left = found
		for id, l := range first {
			if _, still := found[id]; still || l.deadline > 0 && l.deadline <= now {
				left[id] = l // with the TTL of the first look
			}
		}
	}
	for id, l := range subscribed {
		left[id] = l
	}
	if len(left) == 0 {
		return nil
	}
	texts := make([]string, 0, len(left))
	for _, l := range left {
		texts = append(texts, l.text)
	}
	slices.Sort(texts)
	return errors.New("lockredistest: left behind (AllowLeaks turns this check off):\n\t" +
		strings.Join(texts, "\n\t"))
}

// leaks returns the leaks of the test if it ended now, and the server's time in Unix ms. The
// keys of found are ids. A leak's id stays the same from one call to the next.
func (s *Server) leaks() (found map[string]leak, now int64) {
	found = map[string]leak{}
	seen := s.inside.Inspector.Look()
	for _, l := range seen.Leaks() {
		if !l.OfLock() || !matches(s.opts.dataKeys, l.Name) {
			found[l.ID()] = leak{text: l.Text, deadline: l.Deadline}
		}
	}
	s.keyLeaks(found, seen.Locks)
	return found, seen.Now
}

// keyLeaks adds the keys that the option LockKeys names, except locks that were found before.
func (s *Server) keyLeaks(found map[string]leak, locks []inspect.Lock) {
	for _, pattern := range s.opts.lockKeys {
		for n := range s.inside.Databases {
			names, _ := s.db(n).list("KEYS", pattern)
			for _, name := range names {
				known := func(l inspect.Lock) bool { return l.DB == n && l.Name == name }
				if slices.ContainsFunc(locks, known) || matches(s.opts.dataKeys, name) {
					continue
				}
				found[fmt.Sprint("key", n, name)] = leak{
					text: fmt.Sprintf("key %q%s%s exists and LockKeys(%q) says it is a lock",
						name, inspect.InDatabase(n), s.db(n).holding(name), pattern),
				}
			}
		}
	}
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
// subscriptions too.
func (s *Server) subscriptionLeaks() (left map[string]leak) {
	for try := 0; ; try++ {
		left = map[string]leak{}
		seen := s.inside.Inspector.Look()
		for _, l := range seen.Leaks() {
			if l.Type == inspect.SubscriptionLeak {
				left[l.ID()] = leak{text: l.Text}
			}
		}
		if len(left) == 0 || try == graceTries {
			return left
		}
		time.Sleep(time.Millisecond << try)
	}
}
