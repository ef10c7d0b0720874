package luaexec

import (
	"strconv"
	"strings"

	"github.com/lockredis/lockredis/resp"
)

// fakeServer is a Host for tests: the commands that the fact files use, on one
// database that is empty at first.
type fakeServer struct {
	strings  map[string]string
	hashes   map[string][]resp.Reply
	lists    map[string][]resp.Reply
	scores   map[string]float64
	readOnly bool // the script declared no-writes
	logged   []string
	tick     func() bool
}

func newFakeServer() *fakeServer {
	return &fakeServer{
		strings: map[string]string{}, hashes: map[string][]resp.Reply{},
		lists: map[string][]resp.Reply{}, scores: map[string]float64{},
	}
}

func (f *fakeServer) SetProtocol(int) {}

func (f *fakeServer) SetTold(bool) {}

func (f *fakeServer) Allowed(args resp.Args) (ok, known bool) {
	known = strings.EqualFold(args.String(0), "get")
	return known, known
}

func (f *fakeServer) Log(level int, msg string) {
	f.logged = append(f.logged, strconv.Itoa(level)+" "+strings.Clone(msg))
}

func (f *fakeServer) Tick() bool { return f.tick != nil && f.tick() }

func (f *fakeServer) Command(args resp.Args) resp.Reply {
	arg := func(i int) string { return args.String(i) }
	name := strings.ToLower(arg(0))
	switch {
	case name == "subscribe" || name == "blpop" || name == "debug":
		return resp.Error("ERR This Redis command is not allowed from script")
	case (name == "get" || name == "echo") && len(args) != 2:
		return resp.Error("ERR Wrong number of args calling Redis command from script")
	}
	switch name {
	case "echo":
		return resp.BulkString(arg(1))
	case "set":
		if f.readOnly {
			return resp.Error("ERR Write commands are not allowed from read-only scripts.")
		}
		f.strings[arg(1)] = arg(2)
		return resp.OK
	case "get":
		if v, ok := f.strings[arg(1)]; ok {
			return resp.BulkString(v)
		}
		return resp.Nil
	case "incr":
		return f.incr(arg(1))
	case "hset":
		f.hashes[arg(1)] = []resp.Reply{resp.BulkString(arg(2)), resp.BulkString(arg(3))}
		return resp.Int(1)
	case "hgetall":
		return resp.Map(f.hashes[arg(1)]...)
	}
	return f.callMore(name, args)
}

func (f *fakeServer) callMore(name string, args resp.Args) resp.Reply {
	switch name {
	case "sadd", "rpush":
		key := args.String(1)
		for i := 2; i < len(args); i++ {
			f.lists[key] = append(f.lists[key], resp.BulkString(args.String(i)))
		}
		return resp.Int(int64(len(f.lists[key])))
	case "smembers":
		return resp.Set(f.lists[args.String(1)]...)
	case "lrange":
		return resp.Array(f.lists[args.String(1)]...)
	case "zadd":
		f.scores[args.String(3)], _ = strconv.ParseFloat(args.String(2), 64)
		return resp.Int(1)
	case "zscore":
		if score, ok := f.scores[args.String(2)]; ok {
			return resp.Double(score)
		}
		return resp.Nil
	}
	return resp.Error("ERR Unknown Redis command called from script")
}

func (f *fakeServer) incr(key string) resp.Reply {
	n, err := strconv.ParseInt(f.strings[key], 10, 64)
	if err != nil && f.strings[key] != "" {
		return resp.ErrNotInt
	}
	f.strings[key] = strconv.FormatInt(n+1, 10)
	return resp.Int(n + 1)
}
