package command

import (
	"fmt"
	"strings"

	"github.com/lockredis/lockredis/pubsub"
)

// ClientLine returns the line of CLIENT LIST about s.
func (c *Ctx) ClientLine(s *Session) string {
	m, queued := memoryOf(c, s), -1
	if t := s.transaction(); t != nil {
		queued = len(t.Queue)
	}
	cmd := "NULL"
	if s.LastCommand != nil {
		cmd = s.LastCommand.Name
	}
	events := "r"
	if m.Full {
		events = "rw"
	}
	age, idle := (c.Now()-s.Created)/1000, (c.Now()-s.LastActive)/1000
	line := fmt.Sprintf("id=%d addr=%s laddr=%s fd=%d name=%s age=%d idle=%d flags=%s db=%d"+
		" sub=%d psub=%d ssub=%d multi=%d qbuf=%d qbuf-free=%d argv-mem=%d multi-mem=%d"+
		" rbs=%d rbp=%d obl=%d oll=%d omem=%d tot-mem=%d events=%s cmd=%s user=%s redir=%d resp=%d",
		s.ID, s.Addr, s.LAddr, s.FD, s.Name, age, idle, s.flags(), s.DB,
		s.Subs.Count(pubsub.Channel), s.Subs.Count(pubsub.Pattern), s.Subs.Count(pubsub.Shard),
		queued, m.Query, m.QueryFree, m.argv, m.multi,
		m.Small, m.Peak, m.InSmall, m.Large, m.LargeBytes, m.total(),
		events, cmd, s.UserName(), s.Redirection(), s.Proto)
	if c.Config.Valkey() {
		line += fmt.Sprintf(" lib-name=%s lib-ver=%s", s.LibName, s.LibVersion)
	}
	return line
}

// UserName returns the name of the session's user, as Redis shows it.
func (s *Session) UserName() string {
	if s.User == nil {
		return "(superuser)"
	}
	return s.User.Name
}

// flags returns the flags field of CLIENT LIST: a letter for each property, or N.
func (s *Session) flags() string {
	var b strings.Builder
	for _, f := range []struct {
		on     bool
		letter string
	}{
		{s.Follows(), "S"},
		{s.Primary, "M"},
		{s.Monitor, "O"},
		{s.Subs.Any(), "P"},
		{s.transaction() != nil, "x"},
		{s.Parked != nil || s.State() == Postponed, "b"},
		{s.Tracks(), "t"},
		{s.Tracks() && s.Tracking.Mode.Has(BrokenRedirect), "R"},
		{s.Tracks() && s.Tracking.Mode.Has(Broadcast), "B"},
		{s.Touched, "d"},
		{s.State() == Closing, "c"},
		{s.Unix, "U"},
		{s.ReadOnly, "r"},
		{s.NoEvict, "e"},
		{s.NoTouch, "T"},
	} {
		if f.on {
			b.WriteString(f.letter)
		}
	}
	if b.Len() == 0 {
		return "N"
	}
	return b.String()
}
