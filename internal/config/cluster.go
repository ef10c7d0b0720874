package config

import "github.com/lockredis/lockredis/internal/cluster"

// Cluster holds the directives of cluster mode.
type Cluster struct {
	Enabled bool
	Slots   cluster.Set // the slots that the node owns at the start

	FullCoverage        bool // without all slots the cluster is down
	ReadsWhenDown       bool // a cluster that is down serves reads
	ShardPubSubWhenDown bool // a cluster that is down serves sharded pub/sub

	// As a replica the node takes over when its primary has failed, unless NoFailover. Its data may be no
	// older than ReplicaValidity times NodeTimeout, in ms, and a period of PINGs; 0: as old as they are.
	NoFailover      bool
	NodeTimeout     int64
	ReplicaValidity int64

	// TLS says that other nodes are reached with TLS, and that a node's first port is
	// the one with TLS.
	TLS bool

	// What the node announces in place of what it knows; "" and 0: nothing.
	AnnounceIP, AnnounceHost                       string
	AnnouncePort, AnnounceTLSPort, AnnounceBusPort int
	BusPort                                        int    // 0: the port plus 10000
	Endpoint                                       string // one of the Endpoint constants
}

// The values of cluster-preferred-endpoint-type.
const (
	EndpointIP       = "ip"
	EndpointHostname = "hostname"
	EndpointUnknown  = "unknown-endpoint"
)

// parseSlotList takes slots and ranges of slots, and keeps them as ranges in order.
func parseSlotList(in input) (string, error) {
	if in.none() {
		return "", nil
	}
	set, err := cluster.ParseSet(in.words)
	if err != nil {
		return "", reason(err.Error())
	}
	return set.String(), nil
}
