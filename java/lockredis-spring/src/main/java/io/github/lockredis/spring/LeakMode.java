package io.github.lockredis.spring;

/** What happens to a test that leaves a lock behind. */
public enum LeakMode {
    /** The test fails. The message names each lock, its holder and the holder's client. */
    FAIL,
    /** Nothing: the check is off. */
    ALLOWED
}
