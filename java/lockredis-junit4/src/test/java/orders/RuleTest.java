package orders;

import static org.junit.Assert.assertNull;

import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;

import io.github.lockredis.junit4.LockredisRule;

public class RuleTest {
    @ClassRule
    @Rule
    public static final LockredisRule lockredis = new LockredisRule();

    @Test
    public void startsEmpty() {
        assertNull(lockredis.server().command("GET", "order:42:packed"));
    }
}
