package command

import (
	"fmt"
	"runtime/debug"

	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

// entryOverhead is an estimate, in bytes, of what a key costs beside its name and its value:
// the entry, its positions in the key table, and a deadline.
const entryOverhead = 112

// keyBytes estimates the bytes that a key takes. samples is the option of MEMORY USAGE.
func keyBytes(e *store.Entry, samples int) int64 {
	return entryOverhead + int64(len(e.Key())) + e.Value().MemoryUsage(samples)
}

func memoryUsage(c *Ctx, args resp.Args) resp.Reply {
	samples := int64(5)
	for i := 3; i < len(args); i += 2 {
		if !isWord(args[i], "samples") || i+1 == len(args) {
			return resp.ErrSyntax
		}
		var ok bool
		if samples, ok = resp.ParseInt(args[i+1]); !ok {
			return resp.ErrNotInt
		}
		if samples < 0 {
			return resp.ErrSyntax
		}
	}
	e := c.DB.Peek(args[2])
	if e == nil {
		return resp.Nil
	}
	return resp.Int(keyBytes(e, int(min(samples, 1<<31))))
}

func memoryDoctor(c *Ctx, _ resp.Args) resp.Reply {
	limit := c.Config.MaxMemory
	used := c.Server.MemoryUsed()
	if limit > 0 && used > limit/10*9 {
		return resp.Verbatim(fmt.Sprintf("%s are in use, and maxmemory is %s. Commands that add data "+
			"will soon be refused, because lockredis evicts no keys.\n", human(used), human(limit)))
	}
	return resp.Verbatim(human(used) + " are in use. Nothing is wrong with that.\n")
}

func memoryMallocStats(c *Ctx, _ resp.Args) resp.Reply {
	info := c.Server.Usage()
	return resp.Verbatim(fmt.Sprintf("Go's allocator: heap %d bytes, peak %d bytes, "+
		"from the system %d bytes.\n", info.HeapBytes, info.PeakBytes, info.SystemBytes))
}

func memoryPurge(*Ctx, resp.Args) resp.Reply {
	debug.FreeOSMemory()
	return resp.OK
}

// memoryStats uses Redis's names. Figures that lockredis does not have are 0.
func memoryStats(c *Ctx, _ resp.Args) resp.Reply {
	info := c.Server.Usage()
	var reply []resp.Reply
	count := func(name string, n int64) { reply = append(reply, resp.BulkString(name), resp.Int(n)) }
	ratio := func(name string, part, whole int64) {
		reply = append(reply, resp.BulkString(name), resp.Double(float64(part)/float64(max(whole, 1))))
	}
	heap := info.HeapBytes
	count("peak.allocated", info.PeakBytes)
	count("total.allocated", heap)
	for _, name := range []string{"startup.allocated", "replication.backlog", "clients.slaves"} {
		count(name, 0)
	}
	count("clients.normal", clientBytes(c))
	count("cluster.links", 0)
	count("aof.buffer", 0)
	count("lua.caches", int64(c.Scripts.MemoryUsed()))
	count("functions.caches", int64(c.Scripts.FunctionMemory()))
	keys, overhead := int64(0), int64(0)
	for i := range c.Space.Len() {
		if db := c.Space.DB(i); db.Len() > 0 {
			n := int64(db.Len()) * entryOverhead
			keys, overhead = keys+int64(db.Len()), overhead+n
			reply = append(reply, resp.BulkString(fmt.Sprintf("db.%d", i)), resp.Map(
				resp.BulkString("overhead.hashtable.main"), resp.Int(n),
				resp.BulkString("overhead.hashtable.expires"), resp.Int(int64(db.Expires())*16),
				resp.BulkString("overhead.hashtable.slot-to-keys"), resp.Int(0)))
		}
	}
	dataset := max(heap-overhead, 0)
	count("overhead.total", overhead)
	count("keys.count", keys)
	count("keys.bytes-per-key", heap/max(keys, 1)*min(keys, 1))
	count("dataset.bytes", dataset)
	ratio("dataset.percentage", 100*dataset, heap)
	ratio("peak.percentage", 100*heap, info.PeakBytes)
	count("allocator.allocated", heap)
	count("allocator.active", heap)
	count("allocator.resident", info.SystemBytes)
	ratio("allocator-fragmentation.ratio", heap, heap)
	count("allocator-fragmentation.bytes", 0)
	ratio("allocator-rss.ratio", info.SystemBytes, heap)
	count("allocator-rss.bytes", info.SystemBytes-heap)
	ratio("rss-overhead.ratio", 1, 1)
	count("rss-overhead.bytes", 0)
	ratio("fragmentation", info.SystemBytes, heap)
	count("fragmentation.bytes", info.SystemBytes-heap)
	return resp.Map(reply...)
}

// clientBytes returns the size of all connections' buffers.
func clientBytes(c *Ctx) (n int64) {
	c.Clients.Each(func(s *Session) bool {
		query, free, output := s.Conn.Sizes()
		n += int64(query + free + output)
		return true
	})
	return n
}
