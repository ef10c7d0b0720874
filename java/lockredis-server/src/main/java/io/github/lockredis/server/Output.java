package io.github.lockredis.server;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * The lines that a server prints: standard output and standard error together. A daemon thread reads
 * them to the end, so the server never blocks on a full pipe. The last {@value #KEPT} lines are kept.
 */
final class Output {
    static final int KEPT = 200;
    private static final String CONTROL = "control=";

    private final LineQueue consumer; // null: the log of this JVM
    private final int expected; // Sentinels; the last one's line says that all of them are ready
    private final int servers; // each prints a control line; the last one says that they are ready
    private final Deque<String> lines = new ArrayDeque<>(); // guarded by lines
    private final CountDownLatch ready = new CountDownLatch(1);
    private final CountDownLatch end = new CountDownLatch(1);
    private final List<String> sentinels = new ArrayList<>(); // guarded by lines
    private final List<Integer> ports = new ArrayList<>(); // guarded by lines; of several servers
    private final List<String> controls = new ArrayList<>(); // guarded by lines; "HOST:PORT SECRET"
    private volatile int port;
    private volatile boolean stopping;

    /**
     * The consumer gets each line. Null: the log of this JVM gets them.
     *
     * @param sentinels how many Sentinels the process has. 0: it has servers
     * @param servers how many servers it has
     */
    Output(LineQueue consumer, int sentinels, int servers) {
        this.consumer = consumer;
        this.expected = sentinels;
        this.servers = servers;
    }

    /** Starts the thread that reads the lines. */
    void drain(InputStream from, long pid) {
        // No lambda here and on the rest of the way: the first one of a JVM costs milliseconds.
        Thread thread = new Thread("lockredis-output-" + pid) {
            @Override
            public void run() {
                read(from);
            }
        };
        thread.setDaemon(true);
        thread.start();
    }

    private void read(InputStream from) {
        try (BufferedReader reader =
                new BufferedReader(new InputStreamReader(from, StandardCharsets.UTF_8))) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                if (ready.getCount() > 0 && line.startsWith(CONTROL)) { // no log may have the secret
                    control(line.substring(CONTROL.length()));
                    continue;
                }
                keep(line);
                look(line);
                pass(line);
            }
        } catch (IOException e) {
            // The process has ended: on some systems its pipe then fails in place of ending.
        } finally {
            end.countDown();
            ready.countDown();
        }
    }

    private void control(String line) {
        synchronized (lines) {
            controls.add(line);
            if (controls.size() < servers) {
                return;
            }
        }
        ready.countDown();
    }

    private void keep(String line) {
        synchronized (lines) {
            if (lines.size() == KEPT) {
                lines.removeFirst();
            }
            lines.addLast(line);
        }
    }

    /**
     * Finds the port that the server has chosen, "port=N" or "tls-port=N", its Sentinels, and the ports of several
     * servers: "node=HOST:PORT" or "primary=HOST:PORT".
     */
    private void look(String line) {
        if (ready.getCount() == 0) {
            return;
        }
        if (expected > 0) {
            lookForSentinels(line);
        } else if (line.startsWith("port=") || line.startsWith("tls-port=")) {
            port = Integer.parseInt(line.substring(line.indexOf('=') + 1));
        } else if (line.startsWith("node=") || line.startsWith("primary=")) {
            synchronized (lines) {
                ports.add(Integer.parseInt(line.substring(line.lastIndexOf(':') + 1)));
            }
        }
    }

    /** Finds the line "sentinel=HOST:PORT" of each Sentinel. */
    private void lookForSentinels(String line) {
        if (line.startsWith("sentinel=")) {
            synchronized (lines) {
                sentinels.add(line.substring(line.indexOf('=') + 1));
                if (sentinels.size() < expected) {
                    return;
                }
            }
            ready.countDown();
        }
    }

    private void pass(String line) {
        try {
            if (consumer != null) {
                consumer.add(line);
            } else {
                ServerLog.write(line, stopping);
            }
        } catch (RuntimeException | Error e) {
            // A log that fails must not end the reading: the server would block.
        }
    }

    /** Waits until the server listens or its output has ended. Returns false on a timeout. */
    boolean awaitReady(long millis) throws InterruptedException {
        return ready.await(millis, TimeUnit.MILLISECONDS);
    }

    /**
     * Waits until the last line has been read, and so long again until it has been passed. Returns
     * false when it has not been read.
     */
    boolean awaitEnd(long millis) throws InterruptedException {
        boolean read = end.await(millis, TimeUnit.MILLISECONDS);
        if (read && consumer != null) {
            consumer.await(millis);
        }
        return read;
    }

    boolean ended() {
        return end.getCount() == 0;
    }

    /** Returns the port that the server printed. 0 if it printed none. */
    int port() {
        return port;
    }

    /** Returns the ports of the servers of a topology, in order. Empty: a server alone. */
    List<Integer> ports() {
        synchronized (lines) {
            return new ArrayList<>(ports);
        }
    }

    /** Returns how this library controls each server, "HOST:PORT SECRET", once they are ready. */
    List<String> controls() {
        synchronized (lines) {
            return new ArrayList<>(controls);
        }
    }

    /** Returns the addresses of the Sentinels in the process, as host:port. */
    List<String> sentinels() {
        synchronized (lines) {
            return new ArrayList<>(sentinels);
        }
    }

    /** Notes that the server is asked to stop: its next warnings are no warnings. */
    void setStopping() {
        stopping = true;
    }

    boolean isStopping() {
        return stopping;
    }

    List<String> lines() {
        synchronized (lines) {
            return new ArrayList<>(lines);
        }
    }
}
