package io.github.lockredis.server;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;

class ParallelTest {
    @Test
    void thirtyTwoThreadsStartServersAtOnce() throws Exception {
        Set<Integer> ports = new HashSet<>();
        List<Future<Integer>> all = new ArrayList<>();
        ExecutorService threads = Executors.newFixedThreadPool(32);
        CountDownLatch go = new CountDownLatch(1);
        try {
            for (int i = 0; i < 32; i++) {
                all.add(threads.submit(() -> {
                    go.await();
                    try (LockredisServer server = LockredisServer.start()) {
                        server.command("PING");
                        return server.port();
                    }
                }));
            }
            go.countDown();
            for (Future<Integer> port : all) {
                ports.add(port.get(Child.PATIENCE, TimeUnit.SECONDS));
            }
        } finally {
            threads.shutdownNow();
        }
        // Ports are free again after a close, so not all of them need to differ.
        assertEquals(true, ports.size() > 1);
    }

    @Test
    void aHundredServersRunInOneJvm() {
        List<LockredisServer> servers = new ArrayList<>();
        Set<Integer> ports = new HashSet<>();
        try {
            for (int i = 0; i < 100; i++) {
                LockredisServer server = LockredisServer.start();
                servers.add(server);
                ports.add(server.port());
                server.command("SET", "number", "" + i);
            }
            for (int i = 0; i < 100; i++) {
                assertEquals("" + i, servers.get(i).command("GET", "number"));
            }
        } finally {
            servers.forEach(LockredisServer::close);
        }
        assertEquals(100, ports.size());
    }

    @Test
    void oneServerTakesCommandsOfManyThreads() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(16);
        try (LockredisServer server = LockredisServer.start()) {
            List<Future<Object>> all = new ArrayList<>();
            for (int i = 0; i < 400; i++) {
                all.add(threads.submit(() -> server.command("INCR", "counter")));
            }
            for (Future<Object> reply : all) {
                reply.get(Child.PATIENCE, TimeUnit.SECONDS);
            }
            assertEquals("400", server.command("GET", "counter"));
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void aServerMayBeStoppedAndStartedByManyThreads() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(8);
        try (LockredisServer server = LockredisServer.start()) {
            List<Future<?>> all = new ArrayList<>();
            for (int i = 0; i < 16; i++) {
                all.add(threads.submit(i % 2 == 0 ? server::stop : server::restart));
            }
            for (Future<?> done : all) {
                done.get(Child.PATIENCE, TimeUnit.SECONDS);
            }
            server.restart();
            assertEquals("PONG", server.command("PING"));
        } finally {
            threads.shutdownNow();
        }
    }
}
