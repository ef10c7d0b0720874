package io.github.lockredis.junit5;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

/** The Java code in docs/java.md's chapter about JUnit is a part of the tests in package orders. */
class DocsTest {
    private static final String ORDERS = "/src/test/java/orders";

    @Test
    void eachSnippetIsAPartOfATest() throws IOException {
        Path root = Paths.get("").toAbsolutePath();
        while (!Files.exists(root.resolve("docs/java.md"))) {
            root = root.getParent();
        }
        List<String> tests = new ArrayList<>();
        for (String module : new String[] {"lockredis-junit5", "lockredis-junit4"}) {
            try (Stream<Path> files = Files.list(root.resolve("java/" + module + ORDERS))) {
                for (Path file : files.collect(Collectors.toList())) {
                    tests.add(plain(read(file)));
                }
            }
        }
        String page = read(root.resolve("docs/java.md"));
        int start = page.indexOf("\n## JUnit\n");
        int end = page.indexOf("\n## ", start + 1);
        Matcher block = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL)
                .matcher(page.substring(start, end < 0 ? page.length() : end));
        int blocks = 0;
        for (; block.find(); blocks++) {
            String snippet = plain(block.group(1));
            assertTrue(tests.stream().anyMatch(test -> test.contains(snippet)), () ->
                    "docs/java.md has code that no test in orders has:\n" + block.group(1));
        }
        assertEquals(tests.size(), blocks, "a snippet for each test, and a test for each snippet");
    }

    private static String read(Path file) throws IOException {
        return new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
    }

    /** Returns code without indentation and line ends of Windows. */
    private static String plain(String code) {
        return code.replaceAll("(?m)^[ \t]+|\r", "");
    }
}
