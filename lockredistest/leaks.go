package lockredistest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockredis/lockredis/internal/inspect"
)

// graceTries is how often the check for leaks looks again: after 1 ms, 2 ms, 4 ms and so
// on, half a second in all. The server notices the end of a connection a little later than
// the client that closed it.
const graceTries = 9

// scriptGrace is how long the check waits for a running script before it ends the script.
const scriptGrace = 5 * time.Second

var errScript = errors.New("lockredistest: a script still ran when the test ended; it was killed")

// leak is something that the test left behind.
type leak struct {
	text     string
	deadline int64 // the end of a lock's lease, in Unix ms; 0: none
}

// checkLeaks returns an error that names what the test left behind, nil if nothing. Leaks
// may disappear during the grace period. A lock that only expires in that time counts as
// left behind, because its holder did not release it.
func (s *Server) checkLeaks() error {
	overrun := time.AfterFunc(scriptGrace, s.inside.Interrupt)
	first, _ := s.leaks() // waits for a running script
	if !overrun.Stop() {
		return errScript
	}
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

// leaks returns what would be a leak if the test ended now, by an id that stays the same
// from one call to the next, and the server's time in Unix ms.
func (s *Server) leaks() (found map[string]leak, now int64) {
	found = map[string]leak{}
	seen := s.inside.Inspector.Look()
	for i := range seen.Locks {
		lockLeaks(found, &seen.Locks[i], seen.Now)
	}
	for i := range seen.Clients {
		clientLeaks(found, &seen.Clients[i])
	}
	return found, seen.Now
}

func lockLeaks(found map[string]leak, seen *inspect.Lock, now int64) {
	l := newLock(seen, now)
	name := fmt.Sprintf("%s %q", l.Kind.noun(), l.Name)
	if l.DB != 0 {
		name += fmt.Sprintf(" in database %d", l.DB)
	}
	lease := "for ever"
	if l.TTL > 0 {
		lease = "for another " + l.TTL.String()
	}
	for _, h := range l.Holders {
		found[fmt.Sprint("held", l.DB, l.Name, h.Owner, h.Mode)] = leak{
			text: fmt.Sprintf("%s is held by %s, hold count %d, %s; its client was %s",
				name, h.Owner, h.Count, lease, l.Client),
			deadline: seen.Deadline,
		}
	}
	for _, owner := range l.Queue {
		found[fmt.Sprint("queued", l.DB, l.Name, owner)] = leak{
			text: fmt.Sprintf("%s is queued for by %s", name, owner),
		}
	}
}

func (k Kind) noun() string {
	if k == Plain {
		return "lock"
	}
	return string(k) + " lock"
}

func clientLeaks(found map[string]leak, c *inspect.Client) {
	name := "client " + c.String()
	if c.Wait != nil {
		keys := make([]string, len(c.Wait.Keys))
		for i, key := range c.Wait.Keys {
			keys[i] = fmt.Sprintf("%q", key)
		}
		found[fmt.Sprint("waits", c.ID)] = leak{
			text: fmt.Sprintf("%s waits in %s for %s",
				name, strings.ToUpper(c.Wait.Command), strings.Join(keys, ", ")),
		}
	}
	for noun, topics := range map[string][]string{
		"channel": c.Channels, "pattern": c.Patterns, "shard channel": c.ShardChannels,
	} {
		for _, topic := range topics {
			found[fmt.Sprint("listens", c.ID, noun, topic)] = leak{
				text: fmt.Sprintf("%s is subscribed to %s %q", name, noun, topic),
			}
		}
	}
}
