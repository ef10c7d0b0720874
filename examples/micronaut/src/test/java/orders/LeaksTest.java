package orders;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import io.github.lockredis.junit5.Lockredis;
import io.github.lockredis.server.LockredisServer;
import io.micronaut.test.extensions.junit5.annotation.MicronautTest;
import io.micronaut.test.support.TestPropertyProvider;
import jakarta.inject.Inject;
import java.util.Map;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/** A test whose application keeps a lock fails, and not the test behind it. */
class LeaksTest {
    @Test
    void theRightTestFails() {
        SummaryGeneratingListener report = new SummaryGeneratingListener();
        LauncherFactory.create().execute(
                LauncherDiscoveryRequestBuilder.request().selectors(selectClass(Forgetful.class)).build(), report);
        TestExecutionSummary summary = report.getSummary();
        assertEquals(2, summary.getTestsStartedCount());
        assertEquals(1, summary.getFailures().size());
        TestExecutionSummary.Failure failure = summary.getFailures().get(0);
        assertEquals("aForgetsALock()", failure.getTestIdentifier().getDisplayName());
        String text = failure.getException().getMessage();
        assertTrue(text.contains("lock \"order:42\" is held by"), text);
    }

    @Lockredis
    @MicronautTest
    @TestInstance(TestInstance.Lifecycle.PER_CLASS)
    @TestMethodOrder(MethodOrderer.MethodName.class)
    static class Forgetful implements TestPropertyProvider {
        @Lockredis
        LockredisServer server;

        @Inject
        Orders orders;

        @Override
        public Map<String, String> getProperties() {
            return Map.of("redis.uri", server.uri());
        }

        @Test
        void aForgetsALock() {
            orders.lock("order:42");
        }

        @Test
        void bPacksTheOrder() {
            assertTrue(orders.pack("order:42"));
        }
    }
}
