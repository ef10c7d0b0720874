package io.github.lockredis.junit5;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

/** The Java code in docs/java.md's chapters about JUnit and TestNG is a part of the tests in package orders. */
class DocsTest {
    private static final String ORDERS = "/src/test/java/orders";

    @Test
    void eachSnippetAboutJUnitIsAPartOfATest() throws IOException {
        List<String> tests = new ArrayList<>();
        for (String module : new String[] {"lockredis-junit5", "lockredis-junit4"}) {
            try (Stream<Path> files = Files.list(root().resolve("java/" + module + ORDERS))) {
                for (Path file : files.collect(Collectors.toList())) {
                    tests.add(plain(read(file)));
                }
            }
        }
        List<String> snippets = snippets("JUnit");
        for (String snippet : snippets) {
            assertTrue(tests.stream().anyMatch(test -> test.contains(snippet)), () ->
                    "docs/java.md has code that no test in orders has:\n" + snippet);
        }
        assertEquals(tests.size(), snippets.size(), "a snippet for each test, and a test for each snippet");
    }

    @Test
    void theBaseClassForTestNGIsThatOfTheExample() throws IOException {
        String example = plain(read(root().resolve("examples/testng" + ORDERS + "/LockredisTest.java")));
        List<String> snippets = snippets("TestNG");
        assertEquals(1, snippets.size());
        assertEquals(example.substring(example.indexOf("/** A class of tests")), snippets.get(0));
    }

    @Test
    void theTableOfAttributesHasThoseOfTheAnnotation() throws IOException {
        String page = read(root().resolve("docs/java.md"));
        String chapter = page.substring(page.indexOf("\n### Attributes\n"));
        Matcher row = Pattern.compile("(?m)^\\| `(\\w+)` \\|").matcher(chapter.substring(0, chapter.indexOf("\n### ", 1)));
        Set<String> rows = new TreeSet<>();
        while (row.find()) {
            rows.add(row.group(1));
        }
        Set<String> attributes = new TreeSet<>();
        for (Method attribute : Lockredis.class.getDeclaredMethods()) {
            attributes.add(attribute.getName());
        }
        assertEquals(attributes, rows);
    }

    private static Path root() {
        Path root = Paths.get("").toAbsolutePath();
        while (!Files.exists(root.resolve("docs/java.md"))) {
            root = root.getParent();
        }
        return root;
    }

    /** Returns the Java code of a chapter of docs/java.md. */
    private static List<String> snippets(String chapter) throws IOException {
        String page = read(root().resolve("docs/java.md"));
        int start = page.indexOf("\n## " + chapter + "\n");
        int end = page.indexOf("\n## ", start + 1);
        Matcher block = Pattern.compile("```java\r?\n(.*?)```", Pattern.DOTALL)
                .matcher(page.substring(start, end < 0 ? page.length() : end));
        List<String> snippets = new ArrayList<>();
        while (block.find()) {
            snippets.add(plain(block.group(1)));
        }
        return snippets;
    }

    private static String read(Path file) throws IOException {
        return new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
    }

    /** Returns code without indentation and line ends of Windows. */
    private static String plain(String code) {
        return code.replaceAll("(?m)^[ \t]+|\r", "");
    }
}
