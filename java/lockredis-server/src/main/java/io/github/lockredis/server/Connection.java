package io.github.lockredis.server;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A connection that sends one command after the other, in RESP2. It is not safe for use by several
 * threads. The library's own commands need no more, so no client library is on the class path.
 */
final class Connection implements Closeable {
    /** The server's error reply. The message is the reply without its sign. */
    static final class ErrorReply extends IOException {
        private static final long serialVersionUID = 1L;

        ErrorReply(String message) {
            super(message);
        }
    }

    /** The thread was interrupted while a command waited in the server. It stays interrupted. */
    static final class Interrupted extends IOException {
        private static final long serialVersionUID = 1L;

        Interrupted(IOException cause) {
            super("the thread is interrupted", cause);
        }
    }

    /** How often a thread that waits for a reply looks whether it is interrupted, in milliseconds. */
    private static final int LOOK = 20;
    private static final int MAX_DEPTH = 16;
    private static final int MAX_BULK = 512 << 20; // the server's own limit

    private final Socket socket;
    private final InputStream in;

    /** Connects, and authenticates if the endpoint has a password. */
    Connection(Endpoint to, int timeoutMillis) throws IOException {
        socket = open(to, timeoutMillis);
        try {
            socket.setTcpNoDelay(true);
            socket.setSoTimeout(timeoutMillis);
            in = new BufferedInputStream(socket.getInputStream());
            if (to.password != null && to.user != null) {
                call("AUTH", to.user, to.password);
            } else if (to.password != null) {
                call("AUTH", to.password);
            }
            if (to.database != 0) {
                call("SELECT", Integer.toString(to.database));
            }
        } catch (IOException | RuntimeException e) {
            socket.close();
            throw e;
        }
    }

    private static Socket open(Endpoint to, int timeoutMillis) throws IOException {
        Socket plain = new Socket();
        try {
            plain.connect(new InetSocketAddress(to.host, to.port), timeoutMillis);
            return to.tls ? Tls.over(plain, to) : plain;
        } catch (IOException | RuntimeException e) {
            plain.close();
            throw e;
        }
    }

    /**
     * Sends a command and returns its reply: a String, a Long, a List of such values, or null.
     *
     * @throws ErrorReply if the reply is an error
     */
    Object call(String... command) throws IOException {
        return call(null, command);
    }

    /**
     * Sends a command that waits in the server, as {@link #call(String...)} does.
     *
     * @throws Interrupted if there is no reply yet and the thread is interrupted
     */
    Object callInterruptibly(String... command) throws IOException {
        send(null, command);
        awaitReply();
        return read(0);
    }

    /** Waits for the reply's first byte. A read of a socket does not notice an interrupt, except in a virtual thread. */
    private void awaitReply() throws IOException {
        int timeout = socket.getSoTimeout();
        long begun = System.nanoTime();
        socket.setSoTimeout(LOOK);
        in.mark(1);
        for (boolean waits = true; waits; ) {
            try {
                in.read();
                waits = false;
            } catch (IOException e) {
                if (Thread.currentThread().isInterrupted()) {
                    throw new Interrupted(e);
                }
                if (!(e instanceof SocketTimeoutException)
                        || System.nanoTime() - begun > TimeUnit.MILLISECONDS.toNanos(timeout)) {
                    throw e;
                }
            }
        }
        in.reset();
        socket.setSoTimeout(timeout);
    }

    /** Sends a command whose last argument is bytes, as {@link #call(String...)} does. Null: it has none. */
    Object call(byte[] last, String... command) throws IOException {
        send(last, command);
        return read(0);
    }

    private void send(byte[] last, String... command) throws IOException {
        ByteArrayOutputStream request = new ByteArrayOutputStream();
        write(request, "*" + (command.length + (last == null ? 0 : 1)));
        for (String argument : command) {
            write(request, argument.getBytes(StandardCharsets.UTF_8));
        }
        if (last != null) {
            write(request, last);
        }
        request.writeTo(socket.getOutputStream());
        socket.getOutputStream().flush();
    }

    private static void write(ByteArrayOutputStream to, byte[] argument) throws IOException {
        write(to, "$" + argument.length);
        to.write(argument);
        write(to, "");
    }

    private static void write(ByteArrayOutputStream to, String line) throws IOException {
        to.write((line + "\r\n").getBytes(StandardCharsets.US_ASCII));
    }

    private Object read(int depth) throws IOException {
        String line = readLine();
        String rest = line.isEmpty() ? "" : line.substring(1);
        switch (line.isEmpty() ? ' ' : line.charAt(0)) {
            case '+':
                return rest;
            case '-':
                throw new ErrorReply(rest);
            case ':':
                return number(rest);
            case '$':
                return readBulk(length(rest));
            case '*':
                return readArray(length(rest), depth + 1);
            default:
                throw new IOException("no Redis answers there: it sent \"" + line + "\"");
        }
    }

    private static long number(String digits) throws IOException {
        try {
            return Long.parseLong(digits);
        } catch (NumberFormatException e) {
            throw new IOException("a reply has the number \"" + digits + "\"", e);
        }
    }

    private static int length(String digits) throws IOException {
        long length = number(digits);
        if (length < -1 || length > MAX_BULK) {
            throw new IOException("a reply has the length " + length);
        }
        return (int) length;
    }

    private List<Object> readArray(int length, int depth) throws IOException {
        if (length < 0) {
            return null;
        }
        if (depth > MAX_DEPTH) {
            throw new IOException("a reply has more than " + MAX_DEPTH + " levels");
        }
        List<Object> array = new ArrayList<>(Math.min(length, 1024));
        for (int i = 0; i < length; i++) {
            array.add(readElement(depth));
        }
        return array;
    }

    /** Reads an element of an array. An error in an array is a value: EXEC replies so. */
    private Object readElement(int depth) throws IOException {
        try {
            return read(depth);
        } catch (ErrorReply e) {
            return "-" + e.getMessage();
        }
    }

    private String readBulk(int length) throws IOException {
        if (length < 0) {
            return null;
        }
        ByteArrayOutputStream bulk = new ByteArrayOutputStream(Math.min(length, 8192));
        byte[] part = new byte[Math.min(length, 8192)];
        for (int left = length; left > 0; ) {
            int n = in.read(part, 0, Math.min(left, part.length));
            if (n < 0) {
                throw new EOFException("the server closed the connection");
            }
            bulk.write(part, 0, n);
            left -= n;
        }
        if (!readLine().isEmpty()) {
            throw new IOException("a reply is longer than the length it names");
        }
        return bulk.toString("UTF-8");
    }

    private String readLine() throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream(64);
        for (int b = in.read(); b != '\n'; b = in.read()) {
            if (b < 0) {
                throw new EOFException("the server closed the connection");
            }
            if (b != '\r') {
                line.write(b);
            }
        }
        return line.toString("UTF-8");
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
