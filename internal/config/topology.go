package config

import (
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"

	"github.com/lockredis/lockredis/resp"
)

// Topology is the value of the directive topology: which nodes run in the process beside the
// server, or in its place. The zero Topology is the server alone.
type Topology struct {
	Cluster   bool   // the server is a cluster of one node; of the other fields only Host counts
	Sentinels int    // 0: none
	Name      string // of the primary
	Ports     []int  // of the first Sentinels, nil: not given; the next ones have the ports behind
	PortAuto  bool   // free ports
	Primary   string // "host:port" of a server elsewhere, "": the server in the process
	Password  string // of the Sentinels, "": none
	DownAfter int64  // ms, 0: the default of a Sentinel
	Quorum    int    // 0: the majority
	Host      string // the address at which clients reach the nodes, "": as bind says
}

// maxSentinels is how many Sentinels a topology may have.
const maxSentinels = 15

const (
	errTopology = reason("topology must be 'sentinel:1xN', a server with N Sentinels, 1 to 15, " +
		"or 'cluster:1'")
	errPair = reason("topology: an option has no value")
)

// topologyOptions are the words behind the kind of a topology, in pairs with a value.
var topologyOptions = map[string]func(t *Topology, value string) (ok bool){
	"name": func(t *Topology, v string) bool { t.Name = v; return v != "" },
	"port": func(t *Topology, v string) bool {
		t.Ports, t.PortAuto = nil, v == portAuto
		return t.PortAuto || parsePorts(v, &t.Ports)
	},
	"requirepass": func(t *Topology, v string) bool { t.Password = v; return v != "" },
	"down-after-milliseconds": func(t *Topology, v string) bool {
		ms := 0
		ok := parseCount(v, 1, 1<<31-1, &ms)
		t.DownAfter = int64(ms)
		return ok
	},
	"primary": func(t *Topology, v string) bool {
		host, port, err := net.SplitHostPort(v)
		n := 0
		t.Primary = v
		return err == nil && host != "" && parseCount(port, 1, 65535, &n)
	},
	"quorum": func(t *Topology, v string) bool { return parseCount(v, 1, 1<<31-1, &t.Quorum) },
	"host":   func(t *Topology, v string) bool { t.Host = v; return v != "" },
}

// parsePorts parses one port, or several with commas between them.
func parsePorts(text string, to *[]int) (ok bool) {
	for port := range strings.SplitSeq(text, ",") {
		n := 0
		if !parseCount(port, 1, 65535, &n) {
			return false
		}
		*to = append(*to, n)
	}
	last := (*to)[len(*to)-1]
	return len(*to) > 1 || last <= 65535-maxSentinels
}

// parseCount parses a number between least and most.
func parseCount(text string, least, most int64, to *int) (ok bool) {
	n, ok := resp.ParseInt([]byte(text))
	*to = int(n)
	return ok && n >= least && n <= most
}

// checkTopology checks the value of the directive.
func checkTopology(in input) (string, error) {
	if in.none() {
		return "", nil
	}
	if _, err := parseTopology(in.words); err != nil {
		return "", err
	}
	return strings.Join(in.words, " "), nil
}

// parseTopology reads "sentinel:1x3 port 26379 …".
func parseTopology(words []string) (t Topology, err error) {
	t = Topology{Name: "mymaster"}
	t.Cluster = words[0] == "cluster:1"
	count, ok := strings.CutPrefix(words[0], "sentinel:1x")
	if !t.Cluster && (!ok || !parseCount(count, 1, maxSentinels, &t.Sentinels)) {
		return t, errTopology
	}
	for pairs := words[1:]; len(pairs) > 0; pairs = pairs[2:] {
		name := strings.ToLower(pairs[0])
		set := topologyOptions[name]
		switch {
		case set == nil || t.Cluster && name != "host":
			names := []string{"host"}
			if !t.Cluster {
				names = slices.Sorted(maps.Keys(topologyOptions))
			}
			return t, reason(fmt.Sprintf("topology %s has no option '%s': it has %s", words[0],
				pairs[0], strings.Join(names, ", ")))
		case len(pairs) == 1:
			return t, errPair
		// topologyOf splits the value at white space.
		case len(strings.Fields(pairs[1])) != 1, !set(&t, pairs[1]):
			return t, reason(fmt.Sprintf("topology: %s cannot be '%s'", pairs[0], pairs[1]))
		}
	}
	return t, nil
}

// topologyOf returns the Topology of a checked value.
func topologyOf(value string) Topology {
	if value == "" {
		return Topology{}
	}
	t, _ := parseTopology(strings.Fields(value))
	return t
}
