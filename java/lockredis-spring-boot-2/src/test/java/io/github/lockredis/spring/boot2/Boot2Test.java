package io.github.lockredis.spring.boot2;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

class Boot2Test {
    @Test
    void otherVersionsOfSpringBootAreRefused() {
        assertThat(Stream.of("2.7.18")).allMatch(new Boot2()::supports);
        assertThat(Stream.of("3.0.13", "3.5.9", "4.0.1")).noneMatch(new Boot2()::supports);
    }
}
