package io.github.lockredis.server;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Finds the executable to start. It comes from the class path and is unpacked once for its content,
 * into the first folder of {@link #folders} that takes it and lets it run. It is never deleted: the
 * next JVM uses it.
 */
final class Executables {
    private static final String HOME = "lockredis.home";
    private static final String EXECUTABLE = "lockredis.executable";

    private static Path unpacked; // guarded by the class
    private static final Map<String, String> refused = new LinkedHashMap<>(); // guarded by the class

    private Executables() {
    }

    /** Returns the executable that the user chose, or null. Nothing is written or checked then. */
    static Path chosen(LockredisConfig config) {
        if (config.executable() != null) {
            return config.executable();
        }
        String path = setting(EXECUTABLE);
        return path == null ? null : Paths.get(path);
    }

    /** Returns a system property, or the environment's variable of the same meaning, or null. */
    static String setting(String property) {
        String value = System.getProperty(property);
        if (value == null || value.isEmpty()) {
            value = System.getenv(property.toUpperCase(Locale.ROOT).replace('.', '_'));
        }
        return value == null || value.isEmpty() ? null : value;
    }

    /**
     * Returns the unpacked executable. The first call in a JVM unpacks it, or checks its hash. So does a
     * call after its folder was deleted.
     */
    static synchronized Path unpack() {
        if (unpacked != null && Files.exists(unpacked)) {
            return unpacked;
        }
        Resource resource = Resource.find(Platform.current());
        for (Path folder : folders(System.getenv())) {
            if (refused.containsKey(folder.toString())) {
                continue;
            }
            try {
                unpacked = Unpacker.unpack(resource, folder);
                return unpacked;
            } catch (IOException | RuntimeException e) {
                refused.put(folder.toString(), reason(e));
            }
        }
        throw noFolder(resource);
    }

    /**
     * Notes that the system does not run an unpacked executable: its folder is on a file system
     * without execution (noexec). The next call of {@link #unpack} takes the next folder.
     */
    static synchronized void refuse(Path executable, String reason) {
        // FOLDER/HASH-PLATFORM/lockredis
        refused.put(executable.getParent().getParent().toString(), reason);
        if (executable.equals(unpacked)) {
            unpacked = null;
        }
    }

    private static String reason(Exception e) {
        String message = e.getMessage() == null ? "" : ": " + e.getMessage();
        return e.getClass().getSimpleName() + message;
    }

    private static LockredisException noFolder(Resource resource) {
        StringBuilder text = new StringBuilder("unpack lockredis for " + resource.platform
                + ": no folder takes an executable. Set -Dlockredis.home=FOLDER, or "
                + "-Dlockredis.executable=FILE to an executable that is there. Tried:");
        for (Map.Entry<String, String> entry : refused.entrySet()) {
            text.append("\n  ").append(entry.getKey()).append(": ").append(entry.getValue());
        }
        return new LockredisException(text.toString());
    }

    /**
     * Returns the folders to unpack into, the best one first: the one that the user chose, the
     * user's cache, the temporary folder, the build's own folder. A name that the JVM's locale
     * cannot encode is passed over.
     */
    static List<Path> folders(Map<String, String> environment) {
        List<Path> folders = new ArrayList<>();
        String home = setting(HOME);
        if (home != null) {
            add(folders, home);
        }
        String[] cache = cache(environment);
        if (cache != null) {
            add(folders, cache);
        }
        String user = Text.plain(System.getProperty("user.name", ""), "._-", "_");
        folders.add(temporary().resolve("lockredis-" + user));
        for (String build : new String[] {"target", "build"}) {
            Path folder = Paths.get(build).toAbsolutePath();
            if (Files.isDirectory(folder)) {
                folders.add(folder.resolve("lockredis"));
            }
        }
        return folders;
    }

    private static void add(List<Path> folders, String... names) {
        String name = String.join("/", names);
        try {
            folders.add(Paths.get(name).toAbsolutePath());
        } catch (InvalidPathException e) {
            refused.put(name, reason(e));
        }
    }

    /** Returns the temporary folder. Other users may write to it. */
    static Path temporary() {
        return Paths.get(System.getProperty("java.io.tmpdir", "")).toAbsolutePath();
    }

    private static String[] cache(Map<String, String> environment) {
        Platform platform = Platform.current();
        String local = environment.get(platform.isWindows() ? "LOCALAPPDATA" : "XDG_CACHE_HOME");
        if (local != null && !local.isEmpty() && !platform.isMac()) {
            return new String[] {local, "lockredis"};
        }
        String home = System.getProperty("user.home", "");
        if (home.isEmpty() || home.equals("?")) { // "?": a user without an entry in passwd
            return null;
        }
        if (platform.isWindows()) {
            return new String[] {home, "AppData", "Local", "lockredis"};
        }
        return platform.isMac() ? new String[] {home, "Library", "Caches", "lockredis"}
                : new String[] {home, ".cache", "lockredis"};
    }
}
