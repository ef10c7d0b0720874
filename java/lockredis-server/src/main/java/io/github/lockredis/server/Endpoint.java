package io.github.lockredis.server;

import java.io.UnsupportedEncodingException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.file.Path;

/** An address of a server, and what a client needs to connect to it. */
final class Endpoint {
    /** The form of lockredis.uri. Errors do not repeat the URI: it may have a password. */
    private static final String FORM = "redis://[[user]:password@]host[:port][/database]";

    final String host;
    final int port;
    /** The user name, or null. */
    final String user;
    /** The password, or null. */
    final String password;
    final int database;
    final boolean tls;
    /** The server's certificate as a PEM file. Null: the certificates that the JVM trusts. */
    final Path certificate;

    Endpoint(String host, int port, String user, String password, int database, boolean tls,
            Path certificate) {
        this.host = host;
        this.port = port;
        this.user = user;
        this.password = password;
        this.database = database;
        this.tls = tls;
        this.certificate = certificate;
    }

    /** Reads {@code redis://[[user]:password@]host[:port][/database]}, or {@code rediss://}. */
    static Endpoint parse(String text) {
        URI uri;
        try {
            uri = new URI(text);
        } catch (URISyntaxException e) {
            throw new LockredisException("lockredis.uri: " + e.getReason() + " at index "
                    + e.getIndex() + " of the URI " + FORM, e);
        }
        boolean tls = "rediss".equalsIgnoreCase(uri.getScheme());
        if (!tls && !"redis".equalsIgnoreCase(uri.getScheme()) || uri.getHost() == null) {
            throw new LockredisException("lockredis.uri: the URI is not " + FORM);
        }
        if (uri.getRawQuery() != null || uri.getRawFragment() != null) {
            throw new LockredisException("lockredis.uri: the URI has a query or a fragment. It is "
                    + FORM);
        }
        String user = null;
        String password = null;
        String info = uri.getRawUserInfo();
        if (info != null) {
            int colon = info.indexOf(':');
            // As in redis-cli, a part without a colon is the password.
            password = decode(info.substring(colon + 1));
            user = colon > 0 ? decode(info.substring(0, colon)) : null;
            password = password.isEmpty() && user == null ? null : password;
        }
        String host = uri.getHost();
        if (host.startsWith("[")) {
            host = host.substring(1, host.length() - 1);
        }
        return new Endpoint(host, port(uri), user, password, database(uri.getPath()), tls, null);
    }

    private static int port(URI uri) {
        int port = uri.getPort() < 0 ? 6379 : uri.getPort();
        if (port < 1 || port > 65535) {
            throw new LockredisException("lockredis.uri: port " + port + " is not in 1 to 65535");
        }
        return port;
    }

    private static int database(String path) {
        if (path == null || path.isEmpty() || path.equals("/")) {
            return 0;
        }
        if (!path.matches("/\\d{1,9}")) {
            throw new LockredisException("lockredis.uri: \"" + path
                    + "\" is not a slash and the number of a database");
        }
        return Integer.parseInt(path.substring(1));
    }

    /** Returns the host and the port: {@code 127.0.0.1:6379}. */
    String node() {
        return hostInUri() + ":" + port;
    }

    /** Returns the address without user and password: {@code redis://127.0.0.1:6379}. */
    String address() {
        return scheme() + "://" + node();
    }

    /** Returns the address with user, password and database, where there are any. */
    String uri() {
        StringBuilder uri = new StringBuilder(scheme()).append("://");
        if (password != null) {
            uri.append(user == null ? "" : encode(user));
            uri.append(':').append(encode(password)).append('@');
        }
        uri.append(node());
        return database == 0 ? uri.toString() : uri.append('/').append(database).toString();
    }

    private String scheme() {
        return tls ? "rediss" : "redis";
    }

    private String hostInUri() {
        return host.indexOf(':') < 0 ? host : "[" + host + "]";
    }

    static String encode(String text) {
        try {
            return URLEncoder.encode(text, "UTF-8").replace("+", "%20");
        } catch (UnsupportedEncodingException e) {
            throw new AssertionError(e);
        }
    }

    private static String decode(String text) {
        try {
            return URLDecoder.decode(text.replace("+", "%2B"), "UTF-8");
        } catch (UnsupportedEncodingException e) {
            throw new AssertionError(e);
        }
    }
}
