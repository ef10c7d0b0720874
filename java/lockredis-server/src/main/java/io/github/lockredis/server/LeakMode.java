package io.github.lockredis.server;

/** What happens to a test that leaves a lock, a waiting client or a subscription behind. */
public enum LeakMode {
    /** The test fails. The message names each leak and its client. */
    FAIL,
    /** Nothing: the check is off. */
    ALLOWED
}
