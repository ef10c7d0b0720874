package io.github.lockredis.server;

/** When all data of the server that tests share is deleted. */
public enum FlushMode {
    /**
     * Before each test, and before the methods of the class that prepare it: {@code @BeforeEach} in JUnit 5,
     * {@code @Before} in JUnit 4. In Spring too.
     */
    BEFORE_EACH,
    /** Before the first test of each class, {@code @Nested} classes too. */
    BEFORE_CLASS,
    /** Never: tests see the data of tests before them, and what the application wrote at its start. */
    NEVER
}
