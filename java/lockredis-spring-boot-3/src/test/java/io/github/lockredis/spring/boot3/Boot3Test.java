package io.github.lockredis.spring.boot3;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

class Boot3Test {
    @Test
    void otherVersionsOfSpringBootAreRefused() {
        assertThat(Stream.of("3.1.12", "3.5.9")).allMatch(new Boot3()::supports);
        assertThat(Stream.of("2.7.18", "3.0.13", "4.0.1")).noneMatch(new Boot3()::supports);
    }
}
