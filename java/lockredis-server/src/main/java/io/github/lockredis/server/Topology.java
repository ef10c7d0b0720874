package io.github.lockredis.server;

/** Which servers a client's configuration names. */
public enum Topology {
    /** A single server. */
    SINGLE,
    /** A server, and Sentinels that tell clients its address. */
    SENTINEL,
    /** A Redis Cluster of primaries, which share the slots. By default it has one node. */
    CLUSTER,
    /** Independent servers, as Redisson's RedLock and MultiLock use them. By default there are three. */
    PRIMARIES,
    /**
     * A single server that answers as a managed service does that has a proxy before a cluster: it refuses keys
     * of several slots with CROSSSLOT. By default it stands for three nodes.
     */
    PROXY
}
