package cluster

import (
	"flag"
	"maps"
	"net"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/lockredis/lockredis"
	"github.com/lockredis/lockredis/compat_test/wire"
	"github.com/lockredis/lockredis/internal/backdoor"
	"github.com/lockredis/lockredis/internal/redistest"
)

// size is how many nodes a cluster has.
const size = 3

// limit is how long a reply or a state may take on a busy machine.
const limit = 40 * time.Second

func TestAClusterRepliesAsRecorded(t *testing.T) {
	play(t, startLockredis)
}

func TestTheRecordIsRedissOwn(t *testing.T) {
	if rewrites() {
		t.Skip("the other test records")
	}
	redistest.SkipUnlessWhole(t)
	play(t, startRedis)
}

// rewrites reports whether the plays are recorded.
func rewrites() bool { return flag.Lookup("rewrite").Value.String() == "true" }

func startRedis(t *testing.T, replicas int) *world {
	w := &world{t: t}
	for _, s := range redistest.StartReplicatedCluster(t, size, replicas, "--cluster-node-timeout", "1000") {
		w.addrs, w.ends = append(w.addrs, s.Addr), append(w.ends, s.Kill)
		w.returns = append(w.returns, s.Again)
	}
	return w
}

func startLockredis(t *testing.T, replicas int) *world {
	if rewrites() {
		return startRedis(t, replicas)
	}
	w := &world{t: t}
	nodes := make([]lockredis.Config, size*(1+replicas))
	for _, s := range lockredis.NewReplicatedCluster(size, nodes...) {
		if err := s.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		inside := backdoor.Open(s)
		w.addrs, w.ends = append(w.addrs, s.Addr()), append(w.ends, inside.Stop)
		w.returns = append(w.returns, func() error { inside.Serve(false); return nil })
	}
	return w
}

// play plays all files, each on a new cluster.
func play(t *testing.T, start func(t *testing.T, replicas int) *world) {
	files, err := filepath.Glob("testdata/*")
	if err != nil || len(files) == 0 {
		t.Fatal("no plays: ", err)
	}
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			replicas := 0
			if strings.HasPrefix(filepath.Base(path), "replicas") {
				replicas = 1
			}
			w := start(t, replicas)
			w.conns = map[string]*wire.Conn{}
			t.Cleanup(w.close)
			w.learn()
			datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
				var out strings.Builder
				for line := range strings.Lines(d.Input) {
					if reply := w.act(strings.TrimSpace(line)); reply != "" {
						out.WriteString(reply + "\n")
					}
				}
				return out.String()
			})
		})
	}
}

// world is a running cluster and the connections to it.
type world struct {
	t     *testing.T
	addrs []string
	ends  []func() // ends a node
	// returns starts an ended node again, without its data.
	returns []func() error
	conns   map[string]*wire.Conn
	names   *strings.Replacer // of ids and ports, in replies
	words   *strings.Replacer // in commands
}

func (w *world) close() {
	for _, c := range w.conns {
		c.Close()
	}
}

// learn learns the ids of the nodes.
func (w *world) learn() {
	var names, words []string
	for i := range w.addrs {
		n := strconv.Itoa(i + 1)
		id := string(w.do(n, "CLUSTER", "MYID").Str)
		_, port, _ := net.SplitHostPort(w.addrs[i])
		names = append(names, id, "$"+n, ":"+port, ":@"+n)
		words = append(words, "$"+n, id, "@"+n, port)
	}
	w.names, w.words = strings.NewReplacer(names...), strings.NewReplacer(words...)
}

var lines = regexp.MustCompile(`^(\d)(\.\w+)?(> |! |< |\? | ends$| returns$)(.*)$`)

// act does what a line says. It returns the replies, "" if the line reads none.
func (w *world) act(line string) string {
	m := lines.FindStringSubmatch(line)
	if m == nil {
		w.t.Fatalf("cannot read the line %q", line)
	}
	node, conn, rest := m[1], m[1]+m[2], w.words.Replace(m[4])
	switch m[3] {
	case "> ":
		return w.show(w.do(conn, split(w.t, rest)...))
	case "! ":
		w.check(w.conn(conn).Send(split(w.t, rest)...))
	case "< ":
		n, err := strconv.Atoi(rest)
		w.check(err)
		var got []string
		for range n {
			v, err := w.conn(conn).Receive()
			w.check(err)
			got = append(got, w.show(v))
		}
		return strings.Join(got, "\n")
	case "? ":
		command, want, _ := strings.Cut(rest, " = ")
		var got string
		if !redistest.Poll(limit, func() bool {
			got = w.do(conn, split(w.t, command)...).String()
			return strings.Contains(got, want)
		}) {
			w.t.Fatalf("%s: %s", line, got)
		}
	case " ends":
		i, _ := strconv.Atoi(node)
		w.ends[i-1]()
		maps.DeleteFunc(w.conns, func(name string, _ *wire.Conn) bool { return name[:1] == node })
	case " returns":
		i, _ := strconv.Atoi(node)
		w.check(w.returns[i-1]())
	}
	return ""
}

func (w *world) check(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func split(t *testing.T, line string) []string {
	t.Helper()
	args, err := wire.Split(line)
	if err != nil {
		t.Fatal(err)
	}
	return args
}

// conn returns the connection of a name that begins with the number of a node.
func (w *world) conn(name string) *wire.Conn {
	if c := w.conns[name]; c != nil {
		return c
	}
	c, err := wire.Dial(w.addrs[name[0]-'1'])
	w.check(err)
	c.SetTimeout(limit)
	w.conns[name] = c
	return c
}

func (w *world) do(conn string, args ...string) wire.Value {
	w.t.Helper()
	v, err := w.conn(conn).Do(args...)
	if err != nil {
		w.t.Fatalf("%s: %v: %v", conn, args, err)
	}
	return v
}

var (
	busPort = regexp.MustCompile(`(:@\d)@\d+`)
	// A connected node may have a ping on its way.
	pings   = regexp.MustCompile(` (-|\$\d) \d+ \d+ (\d+ (dis)?connected)`)
	counted = regexp.MustCompile(`(?m)^(cluster_stats_messages|total_cluster).*\n`)
	// listsNodes matches CLUSTER SHARDS and LINKS.
	listsNodes   = regexp.MustCompile(`create-time|replication-offset`)
	linesOfNodes = regexp.MustCompile(`^\["\$\d 127`) // CLUSTER REPLICAS
	varying      = regexp.MustCompile(`("create-time"|"send-buffer-allocated") :\d+|` +
		`("replication-offset") :\d+()()`)
)

// show writes a reply without what differs in each run.
func (w *world) show(v wire.Value) string {
	if text := string(v.Str); len(v.Elems) == 0 && strings.Contains(text, "\n") {
		text = strings.ReplaceAll(w.names.Replace(text), "\r", "")
		text = busPort.ReplaceAllString(text, "$1@bus")
		text = pings.ReplaceAllString(text, " $1 time time $2")
		text = counted.ReplaceAllString(text, "")
		all := strings.Split(strings.TrimSpace(text), "\n")
		if strings.Contains(text, "master") {
			slices.Sort(all)
		}
		return strings.Join(all, "\n")
	}
	shown := w.names.Replace(v.String())
	if linesOfNodes.MatchString(shown) {
		return pings.ReplaceAllString(busPort.ReplaceAllString(shown, "$1@bus"), " $1 time time $2")
	}
	if !listsNodes.MatchString(shown) {
		return shown
	}
	var nodes []string
	for _, e := range v.Elems {
		nodes = append(nodes, varying.ReplaceAllString(w.names.Replace(e.String()), "$1$2 n$4"))
	}
	slices.Sort(nodes)
	return strings.Join(nodes, "\n")
}
