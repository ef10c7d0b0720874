package lockredis;

/** {@link ReadWriteLockTest} with useClusterServers. */
@OnCluster
class ReadWriteLockOnClusterTest extends ReadWriteLockTest {
}
