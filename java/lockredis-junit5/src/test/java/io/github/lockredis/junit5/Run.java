package io.github.lockredis.junit5;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.testkit.engine.EngineExecutionResults;
import org.junit.platform.testkit.engine.EngineTestKit;
import org.junit.platform.testkit.engine.Event;
import org.junit.platform.testkit.engine.EventType;

/** A run of test classes in a JUnit of its own, and how it ended. */
final class Run {
    private final EngineExecutionResults results;

    private Run(EngineExecutionResults results) {
        this.results = results;
    }

    static Run of(Class<?>... classes) {
        return new Run(builder(classes).execute());
    }

    /** Runs classes and their methods side by side. */
    static Run parallel(Class<?>... classes) {
        return parallel("concurrent", classes);
    }

    /** Runs classes side by side, and the methods of each one after the other. */
    static Run parallelClasses(Class<?>... classes) {
        return parallel("same_thread", classes);
    }

    private static Run parallel(String methods, Class<?>... classes) {
        String prefix = "junit.jupiter.execution.parallel.";
        return new Run(builder(classes)
                .configurationParameter(prefix + "enabled", "true")
                .configurationParameter(prefix + "mode.default", methods)
                .configurationParameter(prefix + "mode.classes.default", "concurrent")
                .configurationParameter(prefix + "config.strategy", "fixed")
                .configurationParameter(prefix + "config.fixed.parallelism", "4")
                .execute());
    }

    private static EngineTestKit.Builder builder(Class<?>... classes) {
        DiscoverySelector[] selectors = Arrays.stream(classes).map(type -> selectClass(type))
                .toArray(DiscoverySelector[]::new);
        return EngineTestKit.engine("junit-jupiter").selectors(selectors);
    }

    /** Fails unless so many tests succeeded, and nothing failed. */
    void assertSucceeded(int tests) {
        assertEquals("{}", failures().toString());
        assertEquals(tests, results.testEvents().succeeded().count());
    }

    /** Returns the failures of tests and classes by their names. */
    Map<String, Throwable> failures() {
        Map<String, Throwable> failures = new LinkedHashMap<>();
        List<Event> finished = results.allEvents().stream()
                .filter(event -> event.getType() == EventType.FINISHED)
                .collect(Collectors.toList());
        for (Event event : finished) {
            event.getRequiredPayload(TestExecutionResult.class).getThrowable().ifPresent(failure ->
                    failures.put(name(event), failure));
        }
        return failures;
    }

    private static String name(Event event) {
        return event.getTestDescriptor().getDisplayName().replaceAll("\\(.*\\)$|^.*[$]", "");
    }

    /** Returns the only failure. */
    Throwable failure() {
        Map<String, Throwable> failures = failures();
        assertEquals(1, failures.size(), failures::toString);
        return failures.values().iterator().next();
    }

    /** Returns the only failure, which is that of a name. */
    Throwable failure(String name) {
        Map<String, Throwable> failures = failures();
        assertEquals("[" + name + "]", failures.keySet().toString(), failures::toString);
        return failures.get(name);
    }
}
