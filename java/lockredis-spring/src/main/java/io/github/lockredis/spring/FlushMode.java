package io.github.lockredis.spring;

/** When the data of a context's server is deleted. */
public enum FlushMode {
    /** Before each test method, and before the class's {@code @BeforeEach} methods. */
    BEFORE_EACH,
    /** Before the first test of each class, {@code @Nested} classes too. */
    BEFORE_CLASS,
    /** Never: tests see the data of tests before them, and what the application wrote at its start. */
    NEVER
}
