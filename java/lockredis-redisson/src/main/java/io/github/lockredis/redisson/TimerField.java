package io.github.lockredis.redisson;

import java.lang.reflect.Field;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.Set;

import org.redisson.api.RedissonClient;

import io.netty.channel.EventLoopGroup;
import io.netty.util.HashedWheelTimer;

/**
 * The private field of a client that holds Redisson's timer. It is found by its type, as its class has changed:
 * MasterSlaveConnectionManager in 3.16, ServiceManager in 3.52 and 4.7.
 */
final class TimerField {
    private static final String REDISSON = "org.redisson.";

    private final Object owner;
    private final Field field;

    private TimerField(Object owner, Field field) {
        this.owner = owner;
        this.field = field;
    }

    /**
     * Returns the field of a client.
     *
     * @throws IllegalStateException if this release of Redisson has none
     */
    static TimerField of(RedissonClient client) {
        Set<Object> seen = Collections.newSetFromMap(new IdentityHashMap<>());
        Deque<Object> objects = new ArrayDeque<>();
        objects.add(client);
        while (!objects.isEmpty()) {
            Object object = objects.poll();
            if (!seen.add(object)) {
                continue;
            }
            Field timer = field(object, HashedWheelTimer.class);
            if (timer != null && field(object, EventLoopGroup.class) != null) {
                return new TimerField(object, timer);
            }
            for (Class<?> type = object.getClass(); ofRedisson(type); type = type.getSuperclass()) {
                for (Field field : type.getDeclaredFields()) {
                    Object value = ofRedisson(field.getType()) ? value(object, field) : null;
                    if (value != null) {
                        objects.add(value);
                    }
                }
            }
        }
        throw new IllegalStateException("join " + client.getClass().getName() + ": it has no HashedWheelTimer in a field."
                + " lockredis-redisson knows the timer of Redisson 3.16.8 to 4.7.0. Is this client a proxy,"
                + " or another release?");
    }

    private static boolean ofRedisson(Class<?> type) {
        return type != null && type.getName().startsWith(REDISSON);
    }

    private static Field field(Object object, Class<?> of) {
        for (Class<?> type = object.getClass(); ofRedisson(type); type = type.getSuperclass()) {
            for (Field field : type.getDeclaredFields()) {
                if (field.getType() == of) {
                    return field;
                }
            }
        }
        return null;
    }

    /** Returns the value of a field, at any depth of access. */
    static Object value(Object object, Field field) {
        try {
            field.setAccessible(true);
            return field.get(object);
        } catch (IllegalAccessException | RuntimeException e) {
            throw inaccessible(field, e);
        }
    }

    private static IllegalStateException inaccessible(Field field, Exception cause) {
        return new IllegalStateException("read " + field + ": it is not accessible. On the module path open"
                + " its package to io.github.lockredis.redisson", cause);
    }

    HashedWheelTimer timer() {
        return (HashedWheelTimer) value(owner, field);
    }

    /** Returns the threads of the client's connections. */
    EventLoopGroup group() {
        return (EventLoopGroup) value(owner, field(owner, EventLoopGroup.class));
    }

    void set(HashedWheelTimer timer) {
        try {
            field.set(owner, timer);
        } catch (IllegalAccessException e) {
            throw inaccessible(field, e);
        }
    }
}
