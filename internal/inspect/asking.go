package inspect

import (
	"strings"

	"github.com/lockredis/lockredis/internal/lockkeys"
)

// Ask is what is known of an owner that asked for a lock and was refused. A client that asked for a
// permit during a probe is an Ask without an owner.
type Ask struct {
	Owner string // "<uuid>:<thread>"; "" for a permit
	Mode  Kind   // Read or Write, "" if the owner's script does not tell
	Kind  Kind   // Fair, Fenced, Plain or ReadWrite, as the script tells; "" for a permit
	Since int64  // the first refused ask in a row, Unix ms
	Last  int64  // the last one, Unix ms
	Count int64  // refused asks in a row
	By    Origin // the client that asked last

	// Number is the position of the last ask among all asks, First that of the first one.
	First, Number int64
	// Heard says that the owner has asked since its client subscribed to the release.
	Heard bool
	// Gone says that its client has ended its subscription, and the owner has not asked since.
	Gone bool
}

// ID returns the id of the lock client that the owner belongs to: "<uuid>".
func (a *Ask) ID() string { return clientOf(a.Owner) }

func clientOf(owner string) string {
	if i := strings.IndexByte(owner, ':'); i >= 0 && isUUID(owner[:i]) {
		return owner[:i] // behind the thread there may be a transaction's id
	}
	return owner[:max(0, strings.LastIndexByte(owner, ':'))]
}

// Asks are the owners that asked for one lock.
type Asks struct {
	List []Ask // in no order
	// Ears tells which lock client a subscriber belongs to, by the subscriber's id. A missing
	// subscriber may belong to any client that has no other one.
	Ears map[int64]string
}

// Asking is what the keys and arguments of a script tell of an ask.
type Asking struct {
	Name  string // of the lock
	Text  string // the first argument that is an owner, perhaps with ":write"
	Owner string
	Mode  Kind
	Kind  Kind
	// Leaves says that the script has the form of a release: an owner leaves the lock or the queue.
	Leaves bool
}

// ReadAsking reads the keys and arguments of a script that names one owner, as Redisson's and rlock's
// do. ok is false if they name none or several. It is called inside the engine.
func (i *Inspector) ReadAsking(keys, args [][]byte) (a Asking, ok bool) {
	if len(keys) == 0 || len(keys[0]) > longestName {
		return a, false
	}
	a.Name = string(keys[0])
	if name, isQueue := lockkeys.FairName(a.Name); isQueue { // Redisson's acquireFailed
		a.Name, a.Leaves = name, true
	}
	a.Kind = Plain
	isLock := false
	for at, key := range keys {
		part := lockkeys.PartOf(key, a.Name)
		switch part {
		case lockkeys.FairPart:
			a.Kind = Fair
		case lockkeys.FencingPart:
			a.Kind = Fenced
		case lockkeys.OtherPart:
			a.Leaves = a.Leaves || at == 1 && lockkeys.IsLockChannel(string(key))
		}
		isLock = isLock || part != lockkeys.NoPart
	}
	if !i.readOwner(&a, args, isLock) {
		return a, false
	}
	if a.Mode == "" && len(keys) > 2 && string(keys[2]) == lockkeys.Braced(a.Name) { // rlock's
		a.Mode = Read
	}
	if a.Mode != "" {
		a.Kind = ReadWrite
	}
	return a, true
}

// longestName is the length of the longest name of a lock whose asks are recorded, in bytes.
const longestName = 1 << 10

// readOwner reads the one owner among a script's arguments. Redisson's read lock names it twice, the
// second time with ":write".
func (i *Inspector) readOwner(a *Asking, args [][]byte, isLock bool) bool {
	for _, arg := range args {
		if len(arg) > longestOwner || !i.MayOwn(arg, func() bool { return isLock }) {
			continue
		}
		text := string(arg)
		owner, writes := strings.CutSuffix(text, writeEnd)
		switch {
		case a.Owner == "":
			a.Text, a.Owner = text, owner
			if writes {
				a.Mode = Write
			}
		case a.Owner != owner:
			return false
		case writes && a.Mode == "":
			a.Mode = Read
		}
	}
	return a.Owner != ""
}

// longestOwner is the length of the longest owner that is recorded, in bytes.
const longestOwner = 256

// Announced returns the names of the locks whose release a channel announces: a channel does not tell x and
// {x} apart. owner is "", or the owner in a fair lock's queue whose channel it is. There are none for a
// channel of something else.
func (i *Inspector) Announced(channel string) (names []string, owner string) {
	if !lockkeys.IsLockChannel(channel) {
		return nil, ""
	}
	name, owner, _ := i.Inside().announces(channel)
	names = []string{name}
	if braced := lockkeys.Braced(name); braced != name {
		names = append(names, braced)
	}
	return names, owner
}
