package lockredis;

/** {@link CountDownLatchTest} with useClusterServers. */
@OnCluster
class CountDownLatchOnClusterTest extends CountDownLatchTest {
}
