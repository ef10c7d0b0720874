package io.github.lockredis.server;

/**
 * A server could not start, or did not carry out a command. The message quotes the server's own
 * line.
 */
public final class LockredisException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    LockredisException(String message) {
        super(message);
    }

    LockredisException(String message, Throwable cause) {
        super(message, cause);
    }
}
