package io.github.lockredis.redisson;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;

import org.redisson.client.protocol.RedisCommand;

import io.netty.util.TimerTask;

/** What a timer of Redisson is for. The package of its task tells. */
enum Kind {
    /** A watchdog, an eviction, a delay: it follows the turned clock. */
    TURNED,
    /** A timeout or a retry of a command: real time, because the reply comes in real time. */
    COMMAND,
    /** A ping, a reconnect, a subscription, a blocking command, a remote call: real time. */
    REAL;

    private static final String[] REAL_PACKAGES = {"client", "cluster", "connection", "pubsub", "redisnode", "remote"};

    static Kind of(TimerTask task) {
        String name = task.getClass().getName();
        if (name.startsWith("org.redisson.command.")) {
            return command(task) == null ? REAL : COMMAND;
        }
        for (String real : REAL_PACKAGES) {
            if (name.startsWith("org.redisson." + real + ".")) {
                return REAL;
            }
        }
        return TURNED;
    }

    /**
     * Returns the object that executes the task's command. It is the same for all timers of a command. Null: the task
     * has none, or the command waits in the server, as BLPOP does.
     */
    static Object command(TimerTask task) {
        for (Field field : task.getClass().getDeclaredFields()) {
            if (field.getType().getName().startsWith("org.redisson.command.") && !Modifier.isStatic(field.getModifiers())) {
                Object command = TimerField.value(task, field);
                return command == null || isBlocking(command) ? null : command;
            }
        }
        return null;
    }

    private static boolean isBlocking(Object command) {
        for (Class<?> type = command.getClass(); type != Object.class; type = type.getSuperclass()) {
            for (Field field : type.getDeclaredFields()) {
                if (field.getType() == RedisCommand.class && !Modifier.isStatic(field.getModifiers())) {
                    RedisCommand<?> words = (RedisCommand<?>) TimerField.value(command, field);
                    return words != null && words.isBlockingCommand();
                }
            }
        }
        return false;
    }
}
