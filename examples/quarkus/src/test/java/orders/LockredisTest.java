package orders;

import io.github.lockredis.server.LeakCheck;
import io.github.lockredis.server.LockredisServer;
import io.quarkus.test.common.WithTestResource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** Tests of the application. Its server is empty before each test, and a test that leaves a lock fails. */
@WithTestResource(LockredisResource.class)
abstract class LockredisTest {
    LockredisServer server;
    private LeakCheck check;

    @BeforeEach
    void begin() {
        LeakCheck.prepare(server, true);
        check = LeakCheck.begin(server);
    }

    @AfterEach
    void end() {
        String leaks = check.end(true);
        String end = server.unexpectedEnd();
        if (leaks != null || end != null) {
            throw new AssertionError(end != null ? end : leaks);
        }
    }
}
