package debug

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

var (
	errPopulateRoom = resp.Error("ERR DEBUG POPULATE: the keys would take more memory than there is")
	errNotSDS       = resp.Error("ERR Not an sds encoded string.")
	errNoHashTable  = resp.Error("ERR The value stored at the specified key is not " +
		"represented using an hash table")
	errDatabaseRange = resp.Error("ERR Out of range database")
)

// populateName is the length of the longest name that DEBUG POPULATE makes, in bytes. Redis
// cuts longer names off.
const populateName = 127

// populateEach is about what a key of DEBUG POPULATE takes beside its name and its text, in
// bytes.
const populateEach = 96.0

// debugPopulate creates strings under numbered names. Keys that exist stay as they are. The
// changes do not count for save points, and the only event is "new".
func debugPopulate(c *command.Ctx, args resp.Args) resp.Reply {
	if len(args) < 3 || len(args) > 5 {
		return debugSyntax(args)
	}
	count, ok := resp.ParseInt(args[2])
	if !ok || count < 0 {
		return resp.ErrValuePositive
	}
	prefix, size := []byte("key"), int64(0)
	if len(args) > 3 {
		prefix = command.CText(args[3])
	}
	if len(args) > 4 {
		if size, ok = resp.ParseInt(args[4]); !ok || size < 0 {
			return resp.ErrValuePositive
		}
	}
	each := populateEach + float64(min(len(prefix), populateName)) + float64(size)
	if size > math.MaxInt32 || float64(count)*each > float64(c.Memory.Room()) {
		return errPopulateRoom
	}
	prefix = append(slices.Clone(prefix[:min(len(prefix), populateName)]), ':')
	for i := range count {
		name := strconv.AppendInt(prefix, i, 10)
		name = name[:min(len(name), populateName)]
		if c.DB.LookupWrite(name) == nil {
			c.Change(c.DB.Set(name, populateValue(i, int(size))), command.StringClass, "populate", 0)
		}
	}
	return resp.OK
}

// populateValue returns the value of key i. A size other than 0 cuts the text or fills it up
// with zeros.
func populateValue(i int64, size int) *store.String {
	text := strconv.AppendInt([]byte("value:"), i, 10)
	if size == 0 {
		return store.NewText(text)
	}
	sized := make([]byte, size)
	copy(sized, text)
	return store.NewText(sized)
}

// debugObject describes a value. As in Redis, DEBUG finds an expired key that is not deleted yet, and
// leaves it there.
func debugObject(c *command.Ctx, args resp.Args) resp.Reply {
	e := c.DB.Stored(args[2])
	if e == nil {
		return resp.ErrNoKey
	}
	v := e.Value()
	size := len(command.PayloadEncoder(c).AppendBody(nil, v))
	text := fmt.Sprintf(
		"Value at:%p refcount:%d encoding:%s serializedlength:%d lru:%d lru_seconds_idle:%d",
		v, command.RefCount(c, v), v.Encoding(), size, e.Accessed(), c.Space.Idle(e))
	if l, isList := v.(*store.List); isList {
		text += describeNodes(l)
	}
	return resp.Status(text)
}

// describeNodes returns what DEBUG OBJECT adds for a list.
func describeNodes(l *store.List) string {
	compressed := 0
	if l.Compressed() {
		compressed = 1
	}
	return fmt.Sprintf(" ql_nodes:%d ql_avg_node:%.2f ql_listpack_max:%d ql_compressed:%d "+
		"ql_uncompressed_size:%d", l.Nodes(), float64(l.Len())/float64(l.Nodes()),
		l.Limit(), compressed, l.NodeBytes())
}

// debugSDSLen describes the memory of a key and its string: the bytes in use, the bytes that
// it can grow by, and both together.
func debugSDSLen(c *command.Ctx, args resp.Args) resp.Reply {
	e := c.DB.Stored(args[2])
	if e == nil {
		return resp.ErrNoKey
	}
	s, isString := e.Value().(*store.String)
	if !isString || s.IsInt() {
		return errNotSDS
	}
	key, length, free := len(e.Key()), s.Len(), s.Free()
	return resp.Status(fmt.Sprintf("key_sds_len:%d, key_sds_avail:0, key_zmalloc: %d, "+
		"val_sds_len:%d, val_sds_avail:%d, val_zmalloc: %d", key, key, length, free, length+free))
}

func debugHTStats(c *command.Ctx, args resp.Args) resp.Reply {
	n, ok := resp.ParseInt(args[2])
	switch {
	case !ok:
		return resp.ErrNotInt
	case n < 0 || n >= int64(c.Space.Len()):
		return errDatabaseRange
	}
	keys, deadlines := c.Space.DB(int(n)).HashStats()
	return resp.Verbatim("[Dictionary HT]\n" + describeTable(keys) +
		"[Expires HT]\n" + describeTable(deadlines))
}

func debugHTStatsKey(c *command.Ctx, args resp.Args) resp.Reply {
	e := c.DB.Peek(args[2])
	if e == nil {
		return resp.ErrNoKey
	}
	stats, ok := store.HashStatsOf(e.Value())
	if !ok {
		return errNoHashTable
	}
	return resp.Verbatim(describeTable(stats))
}

// describeTable returns the lines of DEBUG HTSTATS about a table.
func describeTable(s store.HashStats) string {
	if s.Items == 0 {
		return "Hash table 0 stats (main hash table):\nNo stats available for empty dictionaries\n"
	}
	return fmt.Sprintf("Hash table 0 stats (main hash table):\n table size: %d\n number of elements: %d\n",
		s.Slots, s.Items)
}
