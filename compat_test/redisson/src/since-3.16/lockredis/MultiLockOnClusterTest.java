package lockredis;

/** {@link MultiLockTest} with useClusterServers. Its locks are in several slots. */
@OnCluster
class MultiLockOnClusterTest extends MultiLockTest {
}
