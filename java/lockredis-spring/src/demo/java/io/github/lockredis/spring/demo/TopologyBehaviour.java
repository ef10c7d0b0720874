package io.github.lockredis.spring.demo;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.lockredis.server.LockredisTopology;
import io.github.lockredis.server.Topology;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** What a slice of the demo does with Sentinels, or on a cluster. Its client is Lettuce. */
public abstract class TopologyBehaviour extends SliceBehaviour {
    @Autowired
    protected LockredisTopology topology;
    @Autowired
    private RedisConnectionFactory connections;

    @Test
    void lettuceConnectsToTheTopology() {
        LettuceConnectionFactory lettuce = (LettuceConnectionFactory) connections;
        assertThat(lettuce.isRedisSentinelAware())
                .isEqualTo(topology.kind() == Topology.SENTINEL);
        assertThat(lettuce.isClusterAware()).isEqualTo(topology.kind() == Topology.CLUSTER);
        assertThat(topology.server()).isSameAs(server);
    }

    @Test
    @SuppressWarnings("deprecation") // the successor of setPassword is not in Spring Boot 2.7's
    void lettuceTakesTheUri() {
        RedisURI uri = RedisURI.create(topology.uri());
        String password = topology.sentinelPassword(); // the URI has no place for it
        if (password != null) {
            uri.getSentinels().forEach(node -> node.setPassword(password.toCharArray()));
        }
        RedisClient client = RedisClient.create(uri);
        try (StatefulRedisConnection<String, String> connection = client.connect()) {
            connection.sync().set("greeting", "hello");
            assertThat(server.command("GET", "greeting")).isEqualTo("hello");
        } finally {
            client.shutdown();
        }
    }
}
