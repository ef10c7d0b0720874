package sentinel

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lockredis/lockredis/compat_test/wire"
	"github.com/lockredis/lockredis/internal/redistest"
)

// failoversVariable says how often each deployment of TestEveryFailoverEndsAsAsked fails over.
const failoversVariable = "LOCKREDIS_FAILOVERS"

// failovers returns how often each deployment fails over.
func failovers(t *testing.T) int {
	text := os.Getenv(failoversVariable)
	if text == "" {
		return len(failures) // each failure once
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s is %q, not a number of failovers", failoversVariable, text)
	}
	return n
}

// failures are what happens to the first Sentinel while it leads a failover, for SENTINEL
// SIMULATE-FAILURE. Each failover takes the next one.
var failures = []string{"", "crash-after-election", "crash-after-promotion"}

// TestEveryFailoverEndsAsAsked kills the primary of three nodes, again and again, under three
// Sentinels. All of them want passwords. The Sentinels have to promote the replica that priorities
// choose, with all data, and all nodes have to keep their role in their configuration files.
func TestEveryFailoverEndsAsAsked(t *testing.T) {
	redistest.SkipUnderRaceDetector(t)
	redis := redistest.Find(t)
	own := redistest.BuildLockredis(t)
	rounds := failovers(t)
	for _, mix := range []struct{ name, nodes, sentinels string }{
		{"redis-sentinel over lockredis", own, redis},
		{"lockredis over redis-server", redis, own},
		{"lockredis over lockredis", own, own},
	} {
		t.Run(mix.name, func(t *testing.T) {
			t.Parallel()
			d := deploy(t, mix.nodes, mix.sentinels)
			var times []time.Duration
			for round := range rounds {
				times = append(times, d.failOver(round))
			}
			slices.Sort(times)
			t.Logf("%d of %d failovers; from the kill until all Sentinels name the new primary: "+
				"median %v, longest %v", len(times), rounds, times[len(times)/2], times[len(times)-1])
		})
	}
}

const (
	nodePassword     = "node-secret"
	watcherPassword  = "watcher-secret" // of the user that Sentinels are on the nodes
	sentinelPassword = "sentinel-secret"
)

// process is a node or a Sentinel. It has the same port and configuration file after a restart.
type process struct {
	t                        *testing.T
	program, conf, port, pwd string
	args                     []string
	server                   *redistest.Server
}

func (p *process) start() {
	p.t.Helper()
	p.server = redistest.Run(p.t, redistest.Command{
		Program: p.program, Args: append([]string{p.conf}, p.args...),
		Addr: net.JoinHostPort("127.0.0.1", p.port), Dir: filepath.Dir(p.conf),
	})
}

// newProcess starts a process. head are its own directives.
func newProcess(t *testing.T, program, pwd, head string, args ...string) *process {
	t.Helper()
	port, err := redistest.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{t: t, program: program, port: port, pwd: pwd, args: args,
		conf: writeConf(t, t.TempDir(), port, "requirepass "+pwd+"\n"+head)}
	p.start()
	return p
}

// do sends a command and returns the reply. It sends it again when the connection breaks: a Sentinel
// disconnects the clients of a node whose role it changes.
func (p *process) do(args ...string) (reply wire.Value) {
	p.t.Helper()
	if err := poll(patience, func() (done bool, err error) {
		reply, err = p.try(args)
		return err == nil, err
	}); err != nil {
		p.t.Fatalf("%q: %v", args, err)
	}
	return reply
}

func (p *process) try(args []string) (reply wire.Value, err error) {
	c, err := wire.Dial(p.server.Addr)
	if err != nil {
		return reply, err
	}
	defer c.Close()
	c.SetTimeout(patience)
	for _, words := range [][]string{{"AUTH", p.pwd}, args} {
		if reply, err = c.Do(words...); err == nil && reply.IsError() {
			err = errors.New(reply.String())
		}
		if err != nil {
			return reply, err
		}
	}
	return reply, nil
}

// describe returns the fields of the replies that a command lists.
func (p *process) describe(args ...string) (all []map[string]string) {
	p.t.Helper()
	for _, v := range p.do(args...).Elems {
		fields := map[string]string{}
		for i := 0; i+1 < len(v.Elems); i += 2 {
			fields[string(v.Elems[i].Str)] = string(v.Elems[i+1].Str)
		}
		all = append(all, fields)
	}
	return all
}

// config returns the value of a directive in the configuration file, "" if it is not there.
func (p *process) config(directive string) string {
	text, err := os.ReadFile(p.conf)
	if err != nil {
		p.t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, directive+" "); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// replication returns the fields of INFO replication.
func (p *process) replication() map[string]string {
	p.t.Helper()
	return redistest.InfoFields(string(p.do("INFO", "replication").Str))
}

// deployment is a primary with two replicas under three Sentinels.
type deployment struct {
	t                *testing.T
	nodes, sentinels []*process
}

// deploy starts a deployment. The Sentinels may do on the nodes what redis.io says that they need.
func deploy(t *testing.T, nodeProgram, sentinelProgram string) *deployment {
	t.Helper()
	d := &deployment{t: t}
	head := "save \"\"\nrepl-diskless-sync-delay 0\nmasterauth " + nodePassword + "\n" +
		"user watcher on >" + watcherPassword + " allchannels +multi +slaveof +ping +exec +subscribe " +
		"+config|rewrite +role +publish +info +client|setname +client|kill +script|kill\n"
	for i := range 3 {
		if i == 1 {
			head += "replicaof 127.0.0.1 " + d.nodes[0].port + "\n"
		}
		d.nodes = append(d.nodes, newProcess(t, nodeProgram, nodePassword, head))
	}
	for range 3 {
		s := newProcess(t, sentinelProgram, sentinelPassword,
			"sentinel monitor m 127.0.0.1 "+d.nodes[0].port+" 2\n"+
				"sentinel auth-user m watcher\nsentinel auth-pass m "+watcherPassword+"\n"+
				"sentinel down-after-milliseconds m 1000\nsentinel failover-timeout m 2000\n", "--sentinel")
		hurry(s)
		d.sentinels = append(d.sentinels, s)
	}
	return d
}

// hurry gives a Sentinel short periods. A replica is fit when its INFO is not older than five periods of
// PING, and while the primary is down INFO is sent once a second.
func hurry(s *process) {
	s.do("SENTINEL", "DEBUG", "info-period", "100", "ping-period", "300", "ask-period", "100",
		"publish-period", "100", "tilt-period", "1000")
}

// await waits until ready returns "". It fails with what ready says is missing.
func (d *deployment) await(ready func() (missing string)) {
	d.t.Helper()
	if err := poll(tilted, func() (done bool, err error) {
		if missing := ready(); missing != "" {
			return false, errors.New(missing)
		}
		return true, nil
	}); err != nil {
		d.t.Fatal(err)
	}
}

// failOver kills the primary once, and returns how long the Sentinels needed. Afterwards the old
// primary is a replica.
func (d *deployment) failOver(round int) time.Duration {
	d.t.Helper()
	primary := d.awaitPrimary()
	others := slices.DeleteFunc(slices.Clone(d.nodes), func(p *process) bool { return p == primary })
	chosen, other := others[round%2], others[1-round%2]
	worse := []string{"20", "0"}[round/2%2] // 0: never promoted
	chosen.do("CONFIG", "SET", "replica-priority", "10")
	other.do("CONFIG", "SET", "replica-priority", worse)
	d.await(func() string { return d.knowPriorities(chosen.port, worse) })
	value := strconv.Itoa(round)
	primary.do("SET", "round", value)
	d.await(func() string {
		if n, _ := primary.do("WAIT", "2", "1000").Int(); n != 2 {
			return fmt.Sprintf("%d replicas acknowledge", n)
		}
		return ""
	})
	sentinels := d.sentinels
	if failure := failures[round%len(failures)]; failure != "" {
		d.sentinels[0].do("SENTINEL", "SIMULATE-FAILURE", failure)
		sentinels = d.sentinels[1:] // the first one may end
	}

	primary.server.Stop()
	killed := time.Now()
	d.await(func() string { return agree(sentinels, chosen.port) })
	took := time.Since(killed)

	d.restartFirst()
	d.await(func() string { return agree(d.sentinels, chosen.port) })
	if got := string(chosen.do("GET", "round").Str); got != value {
		d.t.Fatalf("round %d: the new primary has %q", round, got)
	}
	primary.start()
	for _, p := range []*process{primary, other} {
		d.await(func() string { return p.follows(chosen.port) })
	}
	if got := chosen.config("replicaof"); got != "" {
		d.t.Fatalf("round %d: the new primary follows %s in its configuration file", round, got)
	}
	return took
}

// awaitPrimary waits until all Sentinels are connected to each other and to all nodes, and returns the
// primary.
func (d *deployment) awaitPrimary() (primary *process) {
	d.t.Helper()
	d.await(func() string {
		port := string(d.sentinels[0].do("SENTINEL", "GET-MASTER-ADDR-BY-NAME", "m").Elems[1].Str)
		primary = d.nodes[slices.IndexFunc(d.nodes, func(p *process) bool { return p.port == port })]
		for _, s := range d.sentinels {
			m := s.describe("SENTINEL", "MASTERS")[0]
			if m["port"] != port || m["flags"] != "master" {
				return fmt.Sprintf("the primary is %v", m)
			}
			peers := s.describe("SENTINEL", "SENTINELS", "m")
			for _, p := range peers {
				if p["flags"] != "sentinel" {
					return fmt.Sprintf("a Sentinel is %v", p)
				}
			}
			replicas := s.describe("SENTINEL", "REPLICAS", "m")
			for _, r := range replicas {
				if r["flags"] != "slave" || r["master-link-status"] != "ok" || r["master-port"] != port {
					return fmt.Sprintf("a replica is %v", r)
				}
			}
			if len(peers) != 2 || len(replicas) != 2 {
				return fmt.Sprintf("%d Sentinels, %d replicas", len(peers), len(replicas))
			}
		}
		return ""
	})
	return primary
}

// knowPriorities tells which Sentinel does not know the priorities of the replicas yet.
func (d *deployment) knowPriorities(chosen, worse string) string {
	for _, s := range d.sentinels {
		for _, r := range s.describe("SENTINEL", "REPLICAS", "m") {
			want := worse
			if r["port"] == chosen {
				want = "10"
			}
			if r["slave-priority"] != want {
				return fmt.Sprintf("a replica is %v", r)
			}
		}
	}
	return ""
}

// agree tells which Sentinel does not say that the primary has this port.
func agree(sentinels []*process, port string) string {
	for _, s := range sentinels {
		v := s.do("SENTINEL", "GET-MASTER-ADDR-BY-NAME", "m")
		if string(v.Elems[1].Str) != port {
			return fmt.Sprintf("%s says %v, not %s", s.port, v, port)
		}
	}
	return ""
}

// follows tells why a node is no replica of the primary at a port, now and after a restart.
func (p *process) follows(port string) string {
	r := p.replication()
	if r["role"] != "slave" || r["master_port"] != port || r["master_link_status"] != "up" {
		return fmt.Sprintf("%s is no replica of %s: %v", p.port, port, r)
	}
	if got := p.config("replicaof"); got != "127.0.0.1 "+port {
		return fmt.Sprintf("%s follows %q in its configuration file, not %s", p.port, got, port)
	}
	return ""
}

// restartFirst starts the first Sentinel again if SIMULATE-FAILURE has ended it. Else it takes the
// failure back.
func (d *deployment) restartFirst() {
	d.t.Helper()
	first := d.sentinels[0]
	select {
	case <-first.server.Ended():
		d.t.Log("the first Sentinel has ended and starts again")
		first.start()
		hurry(first)
	default:
		first.do("SENTINEL", "SIMULATE-FAILURE", "help")
	}
}
