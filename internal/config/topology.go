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
	Kind string // "cluster", "primaries", "proxy", "replicas" or "sentinel"; "": there is no topology
	// One of these is the kind of the topology, or Replicas and Sentinels are; 0: it is another one. Of
	// the other fields only Host counts without Sentinels, and with several servers Ports.

	Cluster   int // nodes of a cluster, with replicas
	Primaries int // independent servers
	Proxy     int // nodes that the server stands for, as a proxy before a cluster does
	Replicas  int // of the server
	Sentinels int // beside a server

	// ClusterPrimaries is how many nodes of a cluster are primaries. The others are their replicas.
	ClusterPrimaries int

	Name      string // of the primary
	Ports     []int  // of all servers, or of the first Sentinels: the next ones follow; nil: not given
	PortAuto  bool   // free ports
	Primary   string // "host:port" of a server elsewhere, "": the server in the process
	Password  string // of the Sentinels, "": none
	DownAfter int64  // ms, 0: the default of a Sentinel
	Quorum    int    // 0: the majority
	Host      string // the address at which clients reach the nodes, "": as bind says
}

// A topology may have so many Sentinels, and so many other nodes.
const (
	maxSentinels = 15
	maxNodes     = 1000
)

const (
	errTopology = reason("topology must be 'sentinel:1xM', a server with M Sentinels, 1 to 15, " +
		"'sentinel:1+N+M', a server with N replicas and M Sentinels, or 'replicas:N', 'cluster:N', " +
		"'cluster:NxR' with R replicas of each primary, 'primaries:N' or 'proxy:N', N from 1 to 1000")
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

// parseKind reads the first word of a topology: "sentinel:1x3".
func parseKind(word string, t *Topology) (ok bool) {
	kind, count, _ := strings.Cut(word, ":")
	t.Kind = kind
	switch kind {
	case "cluster":
		return parseCluster(count, t)
	case "primaries":
		return parseCount(count, 1, maxNodes, &t.Primaries)
	case "proxy":
		return parseCount(count, 1, maxNodes, &t.Proxy)
	case "replicas":
		return parseCount(count, 1, maxNodes, &t.Replicas)
	}
	if count, ok = strings.CutPrefix(word, "sentinel:1x"); ok {
		return parseCount(count, 1, maxSentinels, &t.Sentinels)
	}
	count, ok = strings.CutPrefix(word, "sentinel:1+")
	replicas, sentinels, _ := strings.Cut(count, "+")
	return ok && parseCount(replicas, 1, maxNodes, &t.Replicas) &&
		parseCount(sentinels, 1, maxSentinels, &t.Sentinels)
}

// Servers returns how many servers the process has, with their replicas.
func (t *Topology) Servers() int { return max(t.Cluster, t.Primaries, t.Replicas+1) }

// parseCluster reads "3", primaries, or "3x1", primaries with a replica each.
func parseCluster(text string, t *Topology) (ok bool) {
	primaries, replicas, has := strings.Cut(text, "x")
	each := 0
	if has && !parseCount(replicas, 1, maxNodes, &each) || !parseCount(primaries, 1, maxNodes, &t.ClusterPrimaries) {
		return false
	}
	t.Cluster = t.ClusterPrimaries * (1 + each)
	return t.Cluster <= maxNodes
}

// parseTopology reads "sentinel:1x3 port 26379 …".
func parseTopology(words []string) (t Topology, err error) {
	t = Topology{Name: "mymaster"}
	if !parseKind(words[0], &t) {
		return t, errTopology
	}
	for pairs := words[1:]; len(pairs) > 0; pairs = pairs[2:] {
		name := strings.ToLower(pairs[0])
		set := topologyOptions[name]
		switch {
		case !slices.Contains(t.options(), name):
			return t, reason(fmt.Sprintf("topology %s has no option '%s': it has %s", words[0],
				pairs[0], strings.Join(t.options(), ", ")))
		case len(pairs) == 1:
			return t, errPair
		// topologyOf splits the value at white space.
		case len(strings.Fields(pairs[1])) != 1, !set(&t, pairs[1]):
			return t, reason(fmt.Sprintf("topology: %s cannot be '%s'", pairs[0], pairs[1]))
		}
	}
	if n := t.Servers(); t.Sentinels == 0 && (t.PortAuto || t.Ports != nil && len(t.Ports) != n) {
		return t, reason(fmt.Sprintf("topology %s: the option port needs the port of each server", words[0]))
	}
	return t, nil
}

// options returns the names of the options that the kind of the topology has.
func (t *Topology) options() []string {
	switch {
	case t.Sentinels > 0:
		all := slices.Sorted(maps.Keys(topologyOptions))
		return slices.DeleteFunc(all, func(name string) bool { return name == "primary" && t.Replicas > 0 })
	case t.Proxy > 0:
		return []string{"host"}
	}
	return []string{"host", "port"}
}

// topologyOf returns the Topology of a checked value.
func topologyOf(value string) Topology {
	if value == "" {
		return Topology{}
	}
	t, _ := parseTopology(strings.Fields(value))
	return t
}
