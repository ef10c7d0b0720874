package orders;

import static org.junit.Assert.assertEquals;

import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;

import io.github.lockredis.junit4.LockredisRule;
import io.github.lockredis.server.Topology;

public class RuleOfAClusterTest {
    @ClassRule
    @Rule
    public static final LockredisRule lockredis = new LockredisRule().topology(Topology.CLUSTER).nodes(3);

    @Test
    public void startsThreeNodes() {
        assertEquals(3, lockredis.topology().redissonAddresses().length);
    }
}
