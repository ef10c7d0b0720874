package lockredis;

/** {@link SemaphoreTest} with useClusterServers. */
@OnCluster
class SemaphoreOnClusterTest extends SemaphoreTest {
}
