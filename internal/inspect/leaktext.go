package inspect

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Text returns one sentence about the leak, for a person.
func (l *Leak) Text() string {
	switch {
	case l.Type == SubscriptionLeak:
		return fmt.Sprintf("client %s is subscribed to %s %q", l.By, l.way, l.Name)
	case l.wait != nil:
		return fmt.Sprintf("client %s waits in %s%s", l.By, strings.ToUpper(l.wait.Command), l.wait.keysText())
	case l.Type == PermitLeak:
		return fmt.Sprintf("permit %s of the semaphore %q%s is held %s%s%s", l.Owner, l.Name,
			InDatabase(l.DB), leaseText(l.Deadline, l.now), ago("acquired", l.Since, l.now), clientText(l.By))
	case l.Type == WaiterLeak:
		return fmt.Sprintf("%s %q%s is queued for by %s%s%s", l.noun, l.Name, InDatabase(l.DB), l.Owner,
			ago("enqueued", l.Since, l.now), clientText(l.By))
	}
	owner := l.Owner
	if !utf8.ValidString(owner) { // a token may be any bytes
		owner = strconv.Quote(owner)
	}
	return fmt.Sprintf("%s %q%s is held by %s, hold count %d, %s%s%s", l.noun, l.Name, InDatabase(l.DB), owner,
		l.Holds, leaseText(l.Deadline, l.now), ago("acquired", l.Since, l.now), clientText(l.By))
}

// Text returns one sentence about the acquisitions, for a person.
func (a *Acquired) Text(now int64) string {
	times := "once"
	if a.Count > 1 {
		times = fmt.Sprintf("%d times", a.Count)
	}
	return fmt.Sprintf("lock %q%s was acquired by %s %s%s%s", a.Name, InDatabase(a.DB), a.Owner, times,
		ago("the last time", a.Since, now), clientText(a.By))
}

// keysText returns " for" and the keys, "" without keys.
func (w *Wait) keysText() string {
	if len(w.Keys) == 0 {
		return ""
	}
	keys := make([]string, len(w.Keys))
	for i, key := range w.Keys {
		keys[i] = strconv.Quote(key)
	}
	return " for " + strings.Join(keys, ", ")
}

// InDatabase returns " in database n", "" for database 0.
func InDatabase(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" in database %d", n)
}

// clientText names the client of a holder or waiter, if it is known.
func clientText(o Origin) string {
	if o.Addr == "" {
		return ""
	}
	return "; its client was " + o.String()
}

// Millis returns ms milliseconds, or the longest or shortest Duration if they are too many.
func Millis(ms int64) time.Duration {
	const most = math.MaxInt64 / int64(time.Millisecond)
	switch {
	case ms > most:
		return math.MaxInt64
	case ms < -most:
		return math.MinInt64
	}
	return time.Duration(ms) * time.Millisecond
}

// ago returns ", verb 3s ago" for a time in Unix ms, "" if it is unknown.
func ago(verb string, since, now int64) string {
	if since == 0 {
		return ""
	}
	return fmt.Sprintf(", %s %v ago", verb, Millis(max(0, now-since)))
}

// leaseText says how long a lease lasts. A deadline of 0 never comes.
func leaseText(deadline, now int64) string {
	if deadline == 0 {
		return "for ever"
	}
	return fmt.Sprintf("for another %v", Millis(max(0, deadline-now)))
}

func (k Kind) noun() string {
	if k == Plain || k == Set {
		return "lock"
	}
	return string(k) + " lock"
}
