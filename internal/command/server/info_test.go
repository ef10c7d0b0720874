package server_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/lockredis/lockredis/internal/cluster"
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/command/commandtest"
	"github.com/lockredis/lockredis/luaexec"
)

type fakeMemory struct{ command.Memory }

func (fakeMemory) Used() int64 { return 3 << 20 }
func (fakeMemory) Peak() int64 { return 3 << 29 }

// noClients is a server without connections.
type noClients struct{ command.Clients }

func (noClients) Each(func(*command.Session) bool) {}
func (noClients) Open() int                        { return 0 }

func TestInfoReturnsTheFactsOfTheProcess(t *testing.T) {
	h := commandtest.New(t)
	h.Ctx.Clients, h.Ctx.Scripts = noClients{}, new(luaexec.Runtime)
	h.Ctx.Memory = fakeMemory{}
	lines := strings.Split(h.Run("info server memory").Text(), "\r\n")
	for _, want := range []string{
		"process_id:42", "run_id:0123456789", "tcp_port:6380", "uptime_in_seconds:600",
		"used_memory:3145728", "used_memory_human:3.00M", "used_memory_rss_human:5.00G",
		"used_memory_peak_human:1.50G", "maxmemory_human:0B", "mem_fragmentation_ratio:1706.67",
	} {
		if !slices.Contains(lines, want) {
			t.Errorf("INFO has no line %s", want)
		}
	}
}

func TestInfoKeyspaceAveragesTheTimesToLive(t *testing.T) {
	commandtest.New(t).Check(`
		set a 1 px 1000 => +OK
		set b 1 px 3000 => +OK
		set c 1 => +OK
		info keyspace => $47 # Keyspace db0:keys=3,expires=2,avg_ttl=2000
	`)
}

func TestHelpListsEverySubcommand(t *testing.T) {
	h := commandtest.New(t)
	h.Ctx.Cluster = cluster.NewBus().Join(cluster.Node{ID: strings.Repeat("a", 40), Slots: cluster.All()}, nil)
	for _, cmd := range h.Ctx.Table.All() {
		if !cmd.Container() {
			continue
		}
		var want, got []string
		for _, sub := range cmd.Subs {
			_, name, _ := strings.Cut(sub.Name, "|")
			want = append(want, strings.ToUpper(name))
		}
		for i, line := range h.Run(cmd.Name + " help").Elems() {
			if i%2 == 1 { // behind the title, names and explanations alternate
				name, _, _ := strings.Cut(line.Text(), " ") // arguments may follow
				got = append(got, name)
			}
		}
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s HELP lists %q, want %q", cmd.Name, got, want)
		}
	}
}

func TestLolwutDrawsOnePadlockOrAsManyAsAskedFor(t *testing.T) {
	h := commandtest.New(t)
	for line, want := range map[string]int{
		"lolwut": 1, "lolwut version 1": 1, "lolwut version 3": 3, "lolwut version 0": 1,
		"lolwut version 99": 8, "lolwut foo 3": 1,
	} {
		if got := strings.Count(h.Run(line).Text(), ".--."); got != want {
			t.Errorf("%s draws %d padlocks, want %d", line, got, want)
		}
	}
	h.Check(`lolwut version x => -ERR value is not an integer or out of range`)
}
