package fault

import (
	"strings"

	"github.com/lockredis/lockredis/internal/glob"
)

// Match selects requests or messages. A field with its zero value selects all of them. An item
// must fit all fields.
type Match struct {
	Command    string // as Named wants it; requests only
	Key        string // one of the command's keys; requests only
	KeyPattern string // as in KEYS, for one of the command's keys; requests only
	Client     string // the name that the client has set
	ClientID   int64  // with Client, a client with one of both fits
	Script     string // a part of Request.Script; requests only
	SHA        string // Request.SHA; requests only
	Channel    string // as in PSUBSCRIBE; messages only
}

// Request reports whether r fits. It may be a Rule's Request.
func (m *Match) Request(r Request) bool {
	return (m.Command == "" || Named(r.Name(), m.Command)) &&
		m.selects(r.Client()) &&
		(m.Key == "" || r.AnyKey(func(key string) bool { return key == m.Key })) &&
		(m.KeyPattern == "" || r.AnyKey(func(key string) bool { return glob.Match(m.KeyPattern, key, false) })) &&
		(m.Script == "" || strings.Contains(r.Script(), m.Script)) &&
		(m.SHA == "" || r.SHA() == m.SHA)
}

// Message reports whether msg fits. It may be a Rule's Message.
func (m *Match) Message(msg Message) bool {
	return (m.Channel == "" || glob.Match(m.Channel, msg.Channel, false)) && m.selects(msg.Client)
}

func (m *Match) selects(c Client) bool {
	return m.Client == "" && m.ClientID == 0 ||
		m.Client != "" && c.Name == m.Client || m.ClientID != 0 && c.ID == m.ClientID
}
