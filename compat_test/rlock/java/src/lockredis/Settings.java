package lockredis;

import java.util.HashMap;
import java.util.Map;
import org.redisson.config.BaseConfig;
import org.redisson.config.BaseMasterSlaveServersConfig;
import org.redisson.config.ClusterServersConfig;
import org.redisson.config.Config;
import org.redisson.config.ReadMode;
import org.redisson.config.SentinelServersConfig;

/**
 * The configuration of a Redisson client, from words like "mode=cluster". All settings except
 * the pool sizes and the read mode are Redisson's defaults. Redisson reads from replicas by
 * default, and a permit does not wait for replicas as a lock does: a counter that is read under
 * a permit could be an old one.
 */
final class Settings {
    private static final int IDLE = 4;
    private static final int POOL = 64;

    private Settings() {
    }

    /**
     * mode (single, sentinel, cluster), addresses (host:port,…), master (for sentinel),
     * password, watchdog and fairwait (ms), timeout (ms, of a reply), checksync (false: accept
     * locks that no replica has confirmed).
     */
    static Config of(String[] words) {
        Map<String, String> said = new HashMap<>();
        for (String word : words) {
            String[] parts = word.split("=", 2);
            said.put(parts[0], parts[1]);
        }
        Config config = new Config();
        if (said.containsKey("watchdog")) {
            config.setLockWatchdogTimeout(Long.parseLong(said.get("watchdog")));
        }
        if (said.containsKey("fairwait")) {
            config.setFairLockWaitTimeout(Long.parseLong(said.get("fairwait")));
        }
        if (said.containsKey("checksync")) {
            config.setCheckLockSyncedSlaves(Boolean.parseBoolean(said.get("checksync")));
        }
        BaseConfig<?> servers = servers(config, said);
        if (said.containsKey("timeout")) {
            servers.setTimeout(Integer.parseInt(said.get("timeout")));
        }
        if (said.containsKey("password")) {
            servers.setPassword(said.get("password"));
        }
        return config;
    }

    private static BaseConfig<?> servers(Config config, Map<String, String> said) {
        String[] addresses = said.get("addresses").split(",");
        for (int i = 0; i < addresses.length; i++) {
            addresses[i] = "redis://" + addresses[i];
        }
        switch (said.get("mode")) {
            case "sentinel":
                SentinelServersConfig sentinel = config.useSentinelServers().setMasterName(said.get("master")).addSentinelAddress(addresses);
                return small(sentinel);
            case "cluster":
                ClusterServersConfig cluster = config.useClusterServers().addNodeAddress(addresses).setScanInterval(500);
                return small(cluster);
            default:
                return config.useSingleServer().setAddress(addresses[0])
                        .setConnectionMinimumIdleSize(IDLE).setConnectionPoolSize(POOL);
        }
    }

    private static <T extends BaseMasterSlaveServersConfig<T>> T small(T servers) {
        return servers.setReadMode(ReadMode.MASTER).setMasterConnectionMinimumIdleSize(IDLE)
                .setMasterConnectionPoolSize(POOL).setSlaveConnectionMinimumIdleSize(1);
    }
}
