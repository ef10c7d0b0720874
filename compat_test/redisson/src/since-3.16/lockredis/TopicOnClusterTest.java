package lockredis;

/** {@link TopicTest} with useClusterServers. */
@OnCluster
class TopicOnClusterTest extends TopicTest {
}
