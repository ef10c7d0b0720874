package record

import (
	"container/list"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/inspect"
	"github.com/lockredis/lockredis/internal/shrink"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

// asks are the owners that asked for locks and were refused. A script tells of an ask: it names a lock
// and an owner, and replies how long the lock will be held.
//
// An owner leaves when a script grants it the lock or releases it. An owner that gives up says nothing:
// it stays until mostAsks others have asked after it. See inspect.View.Waiting for which owners still wait.
type asks struct {
	dbs   []*askedDB // by number; nil: nothing was asked there
	order list.List  // of *asked, the owner that asked last at the end
	count int64      // of all asks
}

// askedDB is the locks of a database that owners asked for.
type askedDB struct {
	locks map[string]*askedLock
	peak  int // see shrink.Delete
}

// askedLock is the owners that asked for one lock.
type askedLock struct {
	in     *askedDB
	name   string
	owners map[string]*list.Element // by the owner as the script names it; of *asked
	ears   map[int64]string         // see inspect.Asks
	probes int                      // the probes under way
}

type asked struct {
	inspect.Ask
	text string // the key in askedLock.owners
	of   *askedLock
}

// mostAsks is how many owners are kept.
const mostAsks = 4096

// lock returns the owners that asked for a lock, nil if there are none.
func (a *asks) lock(db int, name string) *askedLock {
	if db >= len(a.dbs) || a.dbs[db] == nil {
		return nil
	}
	return a.dbs[db].locks[name]
}

// concern reports whether owners may ask for the lock that a script's keys name. It allocates nothing.
func (a *asks) concern(db int, keys [][]byte) bool {
	if db >= len(a.dbs) || a.dbs[db] == nil || len(keys) == 0 {
		return false
	}
	return a.dbs[db].locks[string(keys[0])] != nil || inspect.IsQueueKey(keys[0])
}

// open is lock, with a new one if there is none.
func (a *asks) open(db int, name string) *askedLock {
	if l := a.lock(db, name); l != nil {
		return l
	}
	for db >= len(a.dbs) {
		a.dbs = append(a.dbs, nil)
	}
	if a.dbs[db] == nil {
		a.dbs[db] = &askedDB{locks: map[string]*askedLock{}}
	}
	l := &askedLock{in: a.dbs[db], name: name, owners: map[string]*list.Element{}}
	l.in.locks[name] = l
	return l
}

// add adds an ask by an owner, or counts one more.
func (a *asks) add(l *askedLock, text string, ask inspect.Ask) {
	a.count++
	elem := l.owners[text]
	if elem == nil || elem.Value.(*asked).Gone {
		if elem == nil {
			elem = a.order.PushBack(nil)
			l.owners[text] = elem
		}
		ask.Since, ask.First = ask.Last, a.count
		elem.Value = &asked{Ask: ask, text: text, of: l}
	}
	known := elem.Value.(*asked)
	known.Last, known.By, known.Number = ask.Last, ask.By, a.count
	known.Count++
	known.Heard = true
	a.order.MoveToBack(elem)
	if a.order.Len() > mostAsks {
		a.drop(a.order.Front())
	}
}

// drop forgets an owner.
func (a *asks) drop(elem *list.Element) {
	if elem == nil {
		return
	}
	ask := a.order.Remove(elem).(*asked)
	delete(ask.of.owners, ask.text)
	a.close(ask.of)
}

// close forgets a lock that no owner asks for.
func (a *asks) close(l *askedLock) {
	if len(l.owners) == 0 && l.probes == 0 && l.in.locks[l.name] == l {
		shrink.Delete(&l.in.locks, l.name, &l.in.peak)
	}
}

// flush forgets the owners that asked for the locks of a database.
func (a *asks) flush(db int) {
	if db >= len(a.dbs) || a.dbs[db] == nil {
		return
	}
	for _, l := range a.dbs[db].locks {
		for _, elem := range l.owners {
			a.order.Remove(elem)
		}
		clear(l.owners)
		if l.probes == 0 {
			delete(a.dbs[db].locks, l.name)
		}
	}
}

// swap exchanges two databases.
func (a *asks) swap(x, y int) {
	for max(x, y) >= len(a.dbs) {
		a.dbs = append(a.dbs, nil)
	}
	a.dbs[x], a.dbs[y] = a.dbs[y], a.dbs[x]
}

// Asked hears of the end of a script that a client ran in a database, and of its reply. It returns the
// lock whose waiters have changed, "" if none have.
func (r *Record) Asked(by *command.Session, db int, keys, args [][]byte, reply resp.Reply) (name string) {
	refused := refuses(reply)
	if reply.IsError() || !refused && r.probing == 0 && !r.asks.concern(db, keys) {
		return ""
	}
	a, ok := r.known.ReadAsking(keys, args)
	if !ok {
		return r.askedForPermit(by, db, keys, reply)
	}
	switch l := r.asks.lock(db, a.Name); {
	case refused && !a.Leaves:
		if a.Kind != inspect.Fair && !r.isAnothers(db, keys[0], a.Text) {
			return ""
		}
		r.asks.add(r.asks.open(db, a.Name), a.Text, inspect.Ask{
			Owner: a.Owner, Mode: a.Mode, Kind: a.Kind, Last: r.space.Now(), By: Origin(by),
		})
	case l == nil || l.owners[a.Text] == nil || reply.Kind() == resp.KindInt && !a.Leaves:
		return "" // it renews, or was refused by a script that cannot wait
	default:
		r.asks.drop(l.owners[a.Text])
	}
	return a.Name
}

// refuses reports whether a reply has the form of a refused ask: how long the lock will be held, in ms,
// -1 without end. A fenced lock's has a second element, in place of the token. Scripts that renew and
// release reply 0 and 1.
func refuses(reply resp.Reply) bool {
	switch reply.Kind() {
	case resp.KindInt:
		return reply.Int() == -1 || reply.Int() > 1
	case resp.KindArray:
		e := reply.Elems()
		return len(e) == 2 && e[0].Kind() == resp.KindInt && e[1].Kind() == resp.KindInt &&
			e[0].Int() >= -1 && e[1].Int() == -1
	}
	return false
}

// isAnothers reports whether a key is a lock that another owner holds. The holder of a read lock may ask
// for the write lock.
func (r *Record) isAnothers(db int, key []byte, owner string) bool {
	e := r.space.DB(db).Peek(key)
	if e == nil {
		return false
	}
	hash, is := e.Value().(*store.Hash)
	if !is {
		return false
	}
	_, readWrite := hash.Get([]byte("mode"))
	_, own := hash.Get([]byte(owner))
	return readWrite || !own
}

// askedForPermit records an ask for a permit during a probe of the semaphore. Its script names no owner.
// Redisson's replies are 0, nil, and a text with the time until the first lease ends; rlock's is an array
// that begins with 0.
func (r *Record) askedForPermit(
	by *command.Session, db int, keys [][]byte, reply resp.Reply,
) (name string) {
	if r.probing == 0 || len(keys) == 0 {
		return ""
	}
	l := r.asks.lock(db, string(keys[0]))
	if l == nil || l.probes == 0 {
		return ""
	}
	switch e := reply.Elems(); {
	case reply.IsNil(), reply.Kind() == resp.KindInt && reply.Int() == 0:
	case reply.Kind() == resp.KindBulk && len(reply.Text()) > 0 && reply.Text()[0] == ':':
	case reply.Kind() == resp.KindArray && len(e) > 1 && e[0].Kind() == resp.KindInt && e[0].Int() == 0:
	default:
		return ""
	}
	r.asks.add(l, permitAsk+by.Addr, inspect.Ask{Last: r.space.Now(), By: Origin(by)})
	return l.name
}

// permitAsk begins the text of an ask without an owner.
const permitAsk = "\x00"

// BeginProbe has asks for permits of a semaphore be recorded, too, until EndProbe. It returns how many
// asks there have been.
func (r *Record) BeginProbe(db int, name string) (number int64, end func()) {
	if r == nil {
		return 0, func() {}
	}
	l := r.asks.open(db, name)
	l.probes++
	r.probing++
	return r.asks.count, func() {
		r.probing--
		if l.probes--; l.probes > 0 {
			return
		}
		for _, elem := range l.owners {
			if elem.Value.(*asked).Owner == "" {
				r.asks.drop(elem)
			}
		}
		r.asks.close(l)
	}
}

// Asks returns the owners that asked for a lock and were refused.
func (r *Record) Asks(db int, name string) (known inspect.Asks) {
	if r == nil {
		return known
	}
	l := r.asks.lock(db, name)
	if l == nil {
		return known
	}
	for _, elem := range l.owners {
		known.List = append(known.List, elem.Value.(*asked).Ask)
	}
	known.Ears = l.ears
	return known
}

// Listens hears that a client has subscribed to a channel (began), or has ended the subscription. left is
// how many subscribers the channel has now.
//
// A lock client asks, subscribes on another connection, and asks again. So a new subscriber belongs to
// the lock client that has asked and has no subscriber yet. If there are several, it stays unknown.
func (r *Record) Listens(s *command.Session, channel string, began bool, left int) {
	if r.asks.order.Len() == 0 {
		return
	}
	names, owner := r.known.Announced(channel)
	for _, name := range names {
		own := r.asks.lock(s.DB, name)
		for db := range r.asks.dbs {
			l := r.asks.lock(db, name)
			switch {
			case l == nil || own != nil && own != l && l.ears[s.ID] == "": // listens for another database's lock
			case began:
				l.heardBy(s.ID, owner)
			default:
				l.heardNoMore(s.ID, owner, left == 0)
			}
		}
	}
}

// heardBy follows a new subscriber of the lock, or of one owner in a fair lock's queue.
func (l *askedLock) heardBy(id int64, owner string) {
	linked := map[string]bool{}
	for _, client := range l.ears {
		linked[client] = true
	}
	candidate, several := "", false
	var unheard []*asked
	for _, elem := range l.owners {
		a := elem.Value.(*asked)
		switch {
		case owner != "":
			if a.Owner == owner {
				a.Heard = false
			}
		case !linked[a.ID()] && !a.Gone && a.Owner != "":
			unheard = append(unheard, a)
			several = several || candidate != "" && candidate != a.ID()
			candidate = a.ID()
		}
	}
	for _, a := range unheard {
		a.Heard = several && a.Count > 1 // one that asked again has a subscriber already, which may be another
	}
	if candidate != "" && !several {
		if l.ears == nil {
			l.ears = map[int64]string{}
		}
		l.ears[id] = candidate
	}
}

// heardNoMore follows the end of a subscription. The owners of its client are gone, and with the last
// subscriber all owners are.
func (l *askedLock) heardNoMore(id int64, owner string, last bool) {
	client := l.ears[id]
	delete(l.ears, id)
	for _, elem := range l.owners {
		a := elem.Value.(*asked)
		switch {
		case owner != "":
			a.Gone = a.Gone || a.Owner == owner
		case last || client != "" && a.ID() == client:
			a.Gone = true
		}
	}
}
