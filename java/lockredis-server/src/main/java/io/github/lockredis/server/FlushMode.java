package io.github.lockredis.server;

/** When all data of the server that tests share is deleted. */
public enum FlushMode {
    /** Before each test, and before the class's {@code @BeforeEach} methods. */
    BEFORE_EACH,
    /** Before the first test of each class, {@code @Nested} classes too. */
    BEFORE_CLASS,
    /** Never: tests see the data of tests before them, and what the application wrote at its start. */
    NEVER
}
