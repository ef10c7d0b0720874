package io.github.lockredis.server;

import java.util.Objects;

/**
 * Selects the requests that a fault hits: {@code new Match().command("evalsha").key("orders:*").nth(2)}. A request
 * must fit all conditions. {@code new Match()} fits every request. Without {@link #nth}, {@link #times} and
 * {@link #always} a fault hits the next request that fits, and no other.
 *
 * <p>A request is a command as a client sends it. The commands of a script, and those that EXEC runs, are no
 * requests of their own. This library's own commands are hit by no fault, except for
 * {@link LockredisServer#command} and the PINGs by which {@link LockredisServer#unexpectedEnd} connects as a client
 * does.
 */
public final class Match extends FaultMatch<Match> {
    /** Makes a match that fits every request. */
    public Match() {
    }

    /**
     * Selects a command, in any case: evalsha. "client" means its subcommands too, "client list" one of them.
     *
     * @throws IllegalArgumentException if the name is empty, or has more than 4096 bytes. The server knows the
     *     commands: the method of {@link Faults} fails so for a name that is unknown
     */
    public Match command(String name) {
        Objects.requireNonNull(name, "command(null): give the name of a command, or leave the call out");
        options.text("COMMAND", "command", name);
        return this;
    }

    /**
     * Selects requests with a key that a pattern as in KEYS fits. A script's keys are its KEYS, so a lock's name
     * selects the scripts about the lock.
     *
     * @throws IllegalArgumentException if the pattern is empty, or has more than 4096 bytes
     */
    public Match key(String pattern) {
        Objects.requireNonNull(pattern, "key(null): give a pattern of keys, or leave the call out");
        options.text("KEY", "key", pattern);
        return this;
    }

    /**
     * Selects EVALSHA and EVAL of one script.
     *
     * @param sha1 the script's SHA1, 40 hexadecimal digits
     * @throws IllegalArgumentException if it has another form
     */
    public Match script(String sha1) {
        Objects.requireNonNull(sha1, "script(null): give the SHA1 of a script, or leave the call out");
        if (!sha1.matches("[0-9a-fA-F]{40}")) {
            throw new IllegalArgumentException("script(\"" + sha1 + "\"): a SHA1 has 40 hexadecimal digits."
                    + " scriptContains takes a part of the source");
        }
        options.set("SCRIPT", sha1);
        return this;
    }

    /**
     * Selects EVAL and EVALSHA of scripts with a text in their source, and FCALL of functions with the text in their
     * library. It replaces {@link #script}. A script that the server does not know yet does not fit.
     *
     * @throws IllegalArgumentException if the text is empty, or has more than 4096 bytes
     */
    public Match scriptContains(String text) {
        Objects.requireNonNull(text, "scriptContains(null): give a part of a script, or leave the call out");
        options.set("SCRIPT", "CONTAINS", FaultOptions.requireText("scriptContains", text));
        return this;
    }

    @Override
    Match self() {
        return this;
    }
}
