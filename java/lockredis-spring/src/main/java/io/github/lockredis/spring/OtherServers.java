package io.github.lockredis.spring;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.logging.Logger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.github.lockredis.server.LockredisTopology;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.util.ReflectionUtils;

/**
 * Warns of a bean of the application that connects to another server than the context's: a client of Redisson,
 * or a connection factory. No check for leaks sees that server. It reads the beans by reflection,
 * as neither library need be there.
 */
final class OtherServers implements BeanPostProcessor {
    static final Logger LOG = Logger.getLogger(OtherServers.class.getName());

    /** Redisson's clients. */
    private static final List<String> CLIENTS = Arrays.asList("org.redisson.Redisson",
            "org.redisson.RedissonReactive", "org.redisson.RedissonRx");

    private static final String FACTORY = "org.springframework.data.redis.connection.";
    private static final Pattern ADDRESS =
            Pattern.compile("(?:\\w+://)?(?:[^/@]*@)?(\\[[^]]*]|[^:/?]+)(?::(\\d+))?(?:[/?].*)?");

    /** The parts of Redisson's configuration, and the addresses in them and in Spring Data's. */
    private static final String[] PARTS = {"getSingleServerConfig", "getSentinelServersConfig",
        "getClusterServersConfig", "getReplicatedServersConfig", "getMasterSlaveServersConfig", "getAddress",
        "getSentinelAddresses", "getNodeAddresses", "getMasterAddress", "getSlaveAddresses", "getSentinels",
        "getClusterNodes", "getNodes"};

    private final LockredisTopology topology;
    private final String prefix;

    OtherServers(LockredisTopology topology, String prefix) {
        this.topology = topology;
        this.prefix = prefix;
    }

    @Override
    public Object postProcessAfterInitialization(Object bean, String name) {
        try {
            for (String address : addresses(configuration(bean))) {
                if (!isOurs(address)) {
                    LOG.warning("@AutoConfigureLockredis: the bean \"" + name + "\" (" + bean.getClass().getSimpleName()
                            + ") connects to " + address + ", and lockredis is " + String.join(", ", topology.nodes())
                            + ". Leaks on another server are not seen, and its data stays. Build the bean with "
                            + prefix + ".host and " + prefix + ".port, or set its own property to them in the test."
                            + " If the test needs a second server, nothing is to be done");
                    break;
                }
            }
        } catch (RuntimeException e) { // another version of the library has other parts
            LOG.fine(() -> "The addresses of the bean " + name + " are unknown: " + e);
        }
        return bean;
    }

    /** Returns what a client was configured with, or null. A mock of a client is not called. */
    private static Object configuration(Object bean) {
        if (CLIENTS.contains(bean.getClass().getName())) {
            return get(bean, "getConfig");
        }
        if (bean.getClass().getName().equals("org.redisson.spring.data.connection.RedissonConnectionFactory")) {
            Object client = field(bean.getClass(), "redisson", bean);
            return client == null ? null : configuration(client);
        }
        for (Class<?> type = bean.getClass(); type != null; type = type.getSuperclass()) {
            if (type.getName().startsWith(FACTORY)) {
                Object configuration = field(type, "configuration", bean); // of Jedis: not of a single server
                if (configuration == null) {
                    configuration = field(type, "standaloneConfig", bean);
                }
                if (configuration != null) {
                    return configuration;
                }
            }
        }
        return null;
    }

    private static Object field(Class<?> type, String name, Object bean) {
        Field field = ReflectionUtils.findField(type, name);
        if (field == null) {
            return null;
        }
        ReflectionUtils.makeAccessible(field);
        return ReflectionUtils.getField(field, bean);
    }

    /** Returns the addresses in a configuration, as host:port. */
    static Set<String> addresses(Object configuration) {
        Set<String> found = new LinkedHashSet<>();
        add(configuration, found);
        return found;
    }

    private static void add(Object part, Set<String> found) {
        if (part instanceof Collection) {
            ((Collection<?>) part).forEach(each -> add(each, found));
        } else if (part instanceof String) {
            Matcher address = ADDRESS.matcher((String) part);
            if (address.matches()) {
                found.add(address.group(1) + ":" + (address.group(2) == null ? "6379" : address.group(2)));
            }
        } else if (part != null) {
            Object host = get(part, "getHostName");
            host = host == null ? get(part, "getHost") : host;
            if (host != null) {
                found.add(host + ":" + get(part, "getPort"));
            }
            for (String name : PARTS) {
                add(get(part, name), found);
            }
        }
    }

    private static Object get(Object from, String name) {
        Method method = ReflectionUtils.findMethod(from.getClass(), name);
        if (method == null) {
            return null;
        }
        ReflectionUtils.makeAccessible(method);
        return ReflectionUtils.invokeMethod(method, from);
    }

    private boolean isOurs(String address) {
        return isSame(address, topology.server().host() + ":" + topology.server().port())
                || topology.nodes().stream().anyMatch(node -> isSame(address, node));
    }

    /** Reports whether two addresses are the same. It resolves names only when the ports are equal. */
    private static boolean isSame(String a, String b) {
        int hostA = a.lastIndexOf(':');
        int hostB = b.lastIndexOf(':');
        if (!a.substring(hostA).equals(b.substring(hostB))) {
            return false;
        }
        try {
            InetAddress first = InetAddress.getByName(a.substring(0, hostA));
            InetAddress second = InetAddress.getByName(b.substring(0, hostB));
            return first.equals(second) || first.isLoopbackAddress() && second.isLoopbackAddress();
        } catch (UnknownHostException e) {
            return a.equals(b);
        }
    }
}
