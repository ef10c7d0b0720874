package lockredis;

/** {@link FairLockTest} with useClusterServers. */
@OnCluster
class FairLockOnClusterTest extends FairLockTest {
}
