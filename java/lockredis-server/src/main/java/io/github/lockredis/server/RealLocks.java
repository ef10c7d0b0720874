package io.github.lockredis.server;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.stream.Collectors;

/** The script that lists the locks of a Redis that has no LOCK.LIST. Loaded with the first such Redis. */
final class RealLocks {
    static final String SCRIPT = read();

    private RealLocks() {
    }

    private static String read() {
        try (InputStream file = RealLocks.class.getResourceAsStream("locks.lua");
                BufferedReader lines = new BufferedReader(new InputStreamReader(file, StandardCharsets.UTF_8))) {
            return lines.lines().collect(Collectors.joining("\n"));
        } catch (IOException e) {
            throw new LockredisException("read locks.lua: " + e, e);
        }
    }
}
