package io.github.lockredis.server;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.concurrent.Callable;

/** Polls foreign processes, with a deadline. */
final class Await {
    private Await() {
    }

    static void until(String what, Callable<Boolean> condition) throws Exception {
        long end = System.nanoTime() + Child.PATIENCE * 1_000_000_000L;
        while (!condition.call()) {
            if (System.nanoTime() > end) {
                throw new AssertionError("not within " + Child.PATIENCE + " s: " + what);
            }
            Thread.sleep(10);
        }
    }

    /** Waits until no server listens on a port of this machine. */
    static void closed(int port) throws Exception {
        until("port " + port + " is closed", () -> !listens(port));
    }

    static boolean listens(int port) {
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress("127.0.0.1", port), 5000);
            return true;
        } catch (IOException e) {
            return false;
        }
    }
}
