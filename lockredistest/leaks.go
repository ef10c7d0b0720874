package lockredistest

import (
	"errors"
	"fmt"
	"sort"
	"strings"
	"time"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/pubsub"
)

// graceTries is how often the check for leaks looks again, after 1 ms, 2 ms, 4
// ms and so on, half a second in all: a client that was closed a moment ago is heard
// of a little later.
const graceTries = 9

// leak is something that the test left over.
type leak struct {
	text     string
	deadline int64 // of a lock's lease, Unix ms; 0: none
}

// checkLeaks returns an error that names what is left over. It gives what is
// about to go a moment, but a lock that merely expires meanwhile was not
// released.
func (s *Server) checkLeaks() error {
	first, _ := s.leaks()
	left := first
	for try := 0; len(left) > 0 && try < graceTries; try++ {
		time.Sleep(time.Millisecond << try)
		now, millis := s.leaks()
		left = now
		for id, l := range first {
			if _, still := now[id]; still || l.deadline > 0 && l.deadline <= millis {
				left[id] = l // in the words of the first look
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
	sort.Strings(texts)
	return errors.New("lockredistest: left behind (AllowLeaks turns this check off):\n\t" + strings.Join(texts, "\n\t"))
}

// leaks returns what would be a leak if the test ended now, and the server's
// time in Unix ms.
func (s *Server) leaks() (found map[string]leak, now int64) {
	found = map[string]leak{}
	s.engine.Outside(func() {
		now = s.engine.Env().Space.Now()
		for _, l := range s.findLocks() {
			lockLeaks(found, &l, now)
		}
		s.engine.Env().Clients.Each(func(c *command.Session) bool {
			clientLeaks(found, c)
			return true
		})
	})
	return found, now
}

func lockLeaks(found map[string]leak, l *Lock, now int64) {
	name := fmt.Sprintf("%s %q", l.Kind.noun(), l.Name)
	if l.DB != 0 {
		name += fmt.Sprintf(" in database %d", l.DB)
	}
	lease := "for ever"
	if l.TTL > 0 {
		lease = "for another " + l.TTL.String()
	}
	for _, h := range l.Holders {
		id := fmt.Sprint("held", l.DB, l.Name, h.Owner, h.Mode)
		found[id] = leak{
			text:     fmt.Sprintf("%s is held by %s, hold count %d, %s; its client was %s", name, h.Owner, h.Count, lease, l.Client),
			deadline: l.deadline(now),
		}
	}
	for _, owner := range l.Queue {
		found[fmt.Sprint("queued", l.DB, l.Name, owner)] = leak{text: fmt.Sprintf("%s is queued for by %s", name, owner)}
	}
}

func (k Kind) noun() string {
	if k == Plain {
		return "lock"
	}
	return string(k) + " lock"
}

func clientLeaks(found map[string]leak, c *command.Session) {
	name := "client " + clientName(c.Addr, c.Name)
	if p := c.Parked; p != nil {
		keys := make([]string, len(p.Keys))
		for i, key := range p.Keys {
			keys[i] = fmt.Sprintf("%q", key)
		}
		found[fmt.Sprint("parked", c.ID)] = leak{
			text: fmt.Sprintf("%s waits in %s for %s", name, strings.ToUpper(p.Cmd.Name), strings.Join(keys, ", ")),
		}
	}
	for kind, noun := range map[pubsub.Kind]string{pubsub.Channel: "channel", pubsub.Pattern: "pattern", pubsub.Shard: "shard channel"} {
		for _, topic := range c.Subs.Names(kind) {
			found[fmt.Sprint("listens", c.ID, kind, topic)] = leak{text: fmt.Sprintf("%s is subscribed to %s %q", name, noun, topic)}
		}
	}
}
