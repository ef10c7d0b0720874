package lockredis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** AUTH with user and password. */
class UserPasswordTest extends Scenario {
    @Test
    void defaultUserHasRequirepass() {
        Server guarded = closing(Server.start("--requirepass", "sesame"));
        RedissonClient knowing = closing(Clients.open(guarded,
                config -> config.useSingleServer().setUsername("default").setPassword("sesame")));
        RLock lock = knowing.getLock(key);
        lock.lock();
        assertEquals(1, lock.getHoldCount());
        lock.unlock();
        assertThrows(Exception.class, () -> Clients.open(guarded, config -> config.useSingleServer()
                .setUsername("nobody").setPassword("sesame").setRetryAttempts(0)));
    }
}
