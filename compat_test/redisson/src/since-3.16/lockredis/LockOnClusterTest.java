package lockredis;

/** {@link LockTest} with useClusterServers. */
@OnCluster
class LockOnClusterTest extends LockTest {
}
