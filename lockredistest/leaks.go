package lockredistest

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/lockredis/lockredis/internal/glob"
	"github.com/lockredis/lockredis/internal/inspect"
)

// handOverTries is how often the check looks whether a waiter acquires what was released at the test's
// end: an eighth of a second in all.
const handOverTries = 7

// scriptGrace is how long the check waits for a running script before it ends the script.
const scriptGrace = 5 * time.Second

var errScript = errors.New("lockredistest: a script still ran when the test ended; it was killed")

// awaitScript waits for a running script. If the script does not end, it is killed, and
// awaitScript returns errScript.
func (s *Server) awaitScript() error {
	if !within(s).AwaitScript(scriptGrace) {
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
func (s *Server) checkLeaks(subscribed []inspect.Leftover) error {
	if err := s.awaitScript(); err != nil {
		return err
	}
	left := inspect.AwaitLeftovers(time.Sleep, s.leaks)
	left = append(subscribed, inspect.Without(left, subscribed)...)
	if len(left) == 0 {
		return nil
	}
	return errors.New("lockredistest: left behind (AllowLeaks turns this check off):" + inspect.Describe(left))
}

// leaks returns the leaks of the test if it ended now, the server's time in Unix ms, and how much there
// was to look at. The locks of a replica are its primary's: they are no leaks here.
func (s *Server) leaks() (found []inspect.Leftover, now int64, work int) {
	var seen inspect.Snapshot
	var named []inspect.Key
	d := deployed(s)
	copies := within(s).Copies() || d != nil && s.nodes[d.Primary()] != s
	within(s).Inspector.Enter(func(v inspect.View) {
		seen = v.Look()
		if len(s.opts.lockKeys) > 0 && !copies {
			named = v.Keys(func(name string) bool { return matches(s.opts.lockKeys, name) })
		}
	})
	found = seen.Leftovers(func(l *inspect.Leak) bool {
		return !l.OfLock() || !copies && !matches(s.opts.dataKeys, l.Name)
	})
	return append(found, s.keyLeaks(named, seen.Locks)...), seen.Now, len(seen.Locks) + len(found) + len(named)
}

// keyLeaks returns the keys that the option LockKeys names, except the locks.
func (s *Server) keyLeaks(named []inspect.Key, locks []inspect.Lock) (found []inspect.Leftover) {
	if len(named) == 0 {
		return nil
	}
	known := make(map[inspect.Key]bool, len(locks))
	for i := range locks {
		known[inspect.Key{DB: locks[i].DB, Name: locks[i].Name}] = true
	}
	for _, key := range named {
		if !known[key] && !matches(s.opts.dataKeys, key.Name) {
			found = append(found, inspect.Leftover{ID: key, Text: func() string { return s.keyText(key) }})
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
func (s *Server) subscriptionLeaks() (left []inspect.Leftover) {
	inspect.Await(time.Sleep, func(try int) (found, work int) {
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
				left = append(left, inspect.Leftover{ID: l.ID(), Text: l.Text})
			}
		}
		return len(left) + mayAcquire, len(seen.Locks) + len(left)
	})
	return left
}
