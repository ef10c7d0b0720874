package io.github.lockredis.server;

/** Which servers a client's configuration names. */
public enum Topology {
    /** A single server. */
    SINGLE,
    /** A server, and Sentinels that tell clients its address. */
    SENTINEL,
    /** A Redis Cluster of one node, which owns all slots. */
    CLUSTER
}
