package lockredis;

import org.junit.jupiter.api.Test;

/** {@link WatchdogTest} with useClusterServers. It renews the locks of each slot by themselves. */
@OnCluster
class WatchdogOnClusterTest extends WatchdogTest {
    @Override
    @Test
    void everyKindIsKeptPastItsLease() {
        Release.skip("3.44.0", "3.52.0", "renews only one reader of a process, and other scenarios read, too");
        super.everyKindIsKeptPastItsLease();
    }
}
