package orders;

import io.github.lockredis.server.LockredisServer;
import io.quarkus.test.common.QuarkusTestResourceLifecycleManager;
import java.util.Map;

/** Starts a server for the application, and gives it to the tests. */
public class LockredisResource implements QuarkusTestResourceLifecycleManager {
    private LockredisServer server;

    @Override
    public Map<String, String> start() {
        server = LockredisServer.start();
        return Map.of("quarkus.redis.hosts", server.uri());
    }

    @Override
    public void inject(TestInjector injector) {
        injector.injectIntoFields(server, new TestInjector.MatchesType(LockredisServer.class));
    }

    @Override
    public void stop() {
        server.close();
    }
}
