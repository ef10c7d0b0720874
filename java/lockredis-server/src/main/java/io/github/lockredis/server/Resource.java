package io.github.lockredis.server;

import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.net.URLConnection;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Properties;

/** An executable on the class path, in the jar of a lockredis-binary artifact. */
final class Resource {
    private static final String ROOT = "META-INF/lockredis/";
    private static final String DESCRIPTION = "/lockredis.properties";
    private static final String[] ALL = {"linux-amd64", "linux-arm64", "darwin-amd64", "darwin-arm64",
        "windows-amd64", "windows-arm64"};

    final String platform;
    /** The file's name: lockredis, on Windows lockredis.exe. */
    final String file;
    final String version;
    /** The SHA-256 of the content, in hexadecimal digits. */
    final String hash;
    final long size;
    /** The CRC-32 of the content. */
    final long checksum;
    private final URL url;

    Resource(String platform, URL description) throws IOException {
        Properties properties = new Properties();
        try (InputStream in = open(description)) {
            properties.load(in);
        }
        this.platform = platform;
        file = properties.getProperty("file", "");
        version = properties.getProperty("version", "");
        hash = properties.getProperty("sha256", "");
        size = Long.parseLong(properties.getProperty("size", "-1"));
        checksum = Long.parseLong(properties.getProperty("crc32", "-1"), 16);
        url = new URL(description, file);
        boolean named = file.equals("lockredis") || file.equals("lockredis.exe");
        if (!named || hash.length() != 64 || !Text.isPlain(hash, "")) {
            throw new IOException(description + " has no file or no sha256");
        }
    }

    InputStream open() throws IOException {
        return open(url);
    }

    /** Opens a URL without the JVM's cache of jars, which would hold the jar open. */
    private static InputStream open(URL url) throws IOException {
        URLConnection connection = url.openConnection();
        connection.setUseCaches(false);
        return connection.getInputStream();
    }

    /** Returns the executable for a platform. On Windows arm64 the amd64 one serves too. */
    static Resource find(Platform platform) {
        Resource found = find(platform.name);
        if (found == null && platform.name.equals("windows-arm64")) {
            found = find("windows-amd64");
            if (found != null) {
                ServerLog.warn("lockredis-binary-windows-arm64 is not on the class path: "
                        + "using the executable for windows-amd64");
            }
        }
        if (found == null) {
            throw new LockredisException(missing(platform.name));
        }
        return found;
    }

    private static Resource find(String platform) {
        Resource found = null;
        URL first = null;
        try {
            for (URL url : urls(ROOT + platform + DESCRIPTION)) {
                Resource other = new Resource(platform, url);
                if (found != null && !found.hash.equals(other.hash)) {
                    throw new LockredisException("two different executables for " + platform
                            + " are on the class path: version " + found.version + " in " + first
                            + " and version " + other.version + " in " + url);
                }
                if (found == null) {
                    found = other;
                    first = url;
                }
            }
        } catch (IOException e) {
            throw new LockredisException("read the executable's description: " + e.getMessage(), e);
        }
        return found;
    }

    /** Looks with the class loaders of this class and of the thread: one of them sees the jar. */
    private static Collection<URL> urls(String name) throws IOException {
        Map<String, URL> urls = new LinkedHashMap<>(); // by text: URL.equals may ask the name service
        ClassLoader[] loaders = {Resource.class.getClassLoader(),
            Thread.currentThread().getContextClassLoader()};
        for (ClassLoader loader : loaders) {
            if (loader != null) {
                for (URL url : Collections.list(loader.getResources(name))) {
                    urls.put(url.toExternalForm(), url);
                }
            }
        }
        return urls.values();
    }

    private static String missing(String platform) {
        if (Arrays.asList(ALL).contains(platform)) {
            return "no executable for " + platform + " is on the class path: add the dependency "
                    + "io.github.lockredis:lockredis-binary-" + platform + ". If it is there, its build was"
                    + " for other platforms: mvn -f java install -Pall-platforms builds all";
        }
        return "lockredis has no executable for " + platform + ": it has " + String.join(", ", ALL)
                + ". Set -Dlockredis.executable=FILE to one that you built.";
    }
}
