package lockredis;

/** {@link LockWaitTest} with useClusterServers. */
@OnCluster
class LockWaitOnClusterTest extends LockWaitTest {
}
