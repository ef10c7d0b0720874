package lockredis;

/** {@link PermitExpirableSemaphoreTest} with useClusterServers. */
@OnCluster
class PermitExpirableSemaphoreOnClusterTest extends PermitExpirableSemaphoreTest {
}
