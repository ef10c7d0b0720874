package io.github.lockredis.spring.boot3;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.lockredis.spring.AutoConfigureLockredis;
import io.github.lockredis.spring.demo.Shop;
import org.junit.jupiter.api.Test;
import org.springframework.aot.generate.GeneratedFiles;
import org.springframework.aot.generate.InMemoryGeneratedFiles;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.core.io.InputStreamSource;
import org.springframework.test.context.aot.TestContextAotGenerator;

/** What process-test-aot of Spring Boot's build plugins does with an annotated test. */
class AotTest {
    @SpringBootTest(classes = Shop.class, webEnvironment = WebEnvironment.NONE,
            properties = "example=aot")
    @AutoConfigureLockredis
    static class Annotated {
    }

    /** A server belongs to one run. In the next one the customizer starts another. */
    @Test
    void generatedCodeHasTheApplicationAndNotTheServer() throws IOException {
        InMemoryGeneratedFiles files = new InMemoryGeneratedFiles();
        new TestContextAotGenerator(files).processAheadOfTime(Stream.of(Annotated.class));
        Map<String, InputStreamSource> sources = files.getGeneratedFiles(GeneratedFiles.Kind.SOURCE);
        assertThat(sources.keySet()).anyMatch(name -> name.contains("AotTest_Annotated"));
        StringBuilder text = new StringBuilder();
        for (String name : sources.keySet().stream().sorted().collect(Collectors.toList())) {
            text.append(files.getGeneratedFileContent(GeneratedFiles.Kind.SOURCE, name));
        }
        assertThat(text.toString()).contains("\"lockRegistry\"")
                .doesNotContain("lockredisConnectionDetails", "lockredisServer", "127.0.0.1");
    }
}
