package io.github.lockredis.server;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.Paths;

/** An RDB file that a server begins with, in place of no data. */
final class Snapshot {
    private final String name;
    private final byte[] file;

    private Snapshot(String name, byte[] file) {
        this.name = name;
        this.file = file;
    }

    /**
     * Reads a resource of the class path, or else a file. Null: returns null.
     *
     * @throws LockredisException if there is neither, or it cannot be read
     */
    static Snapshot read(String name) {
        if (name == null) {
            return null;
        }
        try (InputStream resource = resource(name)) {
            return new Snapshot(name, resource != null ? bytes(resource) : Files.readAllBytes(file(name)));
        } catch (IOException e) {
            throw new LockredisException("snapshot \"" + name + "\": read it: " + e, e);
        }
    }

    /** Returns the resource with a name. Null: there is none. */
    private static InputStream resource(String name) {
        String plain = name.startsWith("/") ? name.substring(1) : name;
        ClassLoader tests = Thread.currentThread().getContextClassLoader();
        return (tests != null ? tests : Snapshot.class.getClassLoader()).getResourceAsStream(plain);
    }

    private static Path file(String name) {
        Path file;
        try {
            file = Paths.get(name).toAbsolutePath();
        } catch (InvalidPathException e) {
            throw new LockredisException("snapshot \"" + name + "\": it is no resource of the class path, and no path: "
                    + e.getReason(), e);
        }
        if (!Files.isRegularFile(file)) {
            throw new LockredisException("snapshot \"" + name + "\": there is neither a resource of the class path with"
                    + " this name nor the file " + file);
        }
        return file;
    }

    private static byte[] bytes(InputStream from) throws IOException {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        byte[] part = new byte[8192];
        for (int n = from.read(part); n >= 0; n = from.read(part)) {
            all.write(part, 0, n);
        }
        return all.toByteArray();
    }

    /**
     * Replaces all data of a server. Returns the reply: what LOCK.LEAKS ALL would have replied just before.
     *
     * @param door the way in for this library's own commands
     * @throws LockredisException if the server refuses the file. Then its data is as before
     */
    Object load(Endpoint door) throws IOException {
        try (Connection connection = new Connection(door, LockredisServer.LOAD_TIMEOUT)) {
            return connection.call(file, "CONTROL", "LOAD");
        } catch (Connection.ErrorReply e) {
            throw new LockredisException("snapshot \"" + name + "\": the server does not load it: " + e.getMessage(), e);
        }
    }
}
