package bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;

import io.github.lockredis.server.LockredisServer;

/** A way to start a Redis from Java. */
enum Subject {
    LOCKREDIS("lockredis") {
        @Override
        Running start() {
            LockredisServer server = LockredisServer.start();
            return running(server.port(), server::close);
        }
    },
    LOCKREDIS_UNPACKING("lockredis, unpacked by the first start") {
        @Override
        Running start() throws Exception {
            return LOCKREDIS.start();
        }
    },
    EMBEDDED_REDIS("embedded-redis 1.4.3") {
        @Override
        Running start() throws Exception {
            int port = freePort();
            redis.embedded.RedisServer server =
                    redis.embedded.RedisServer.newRedisServer().port(port).build();
            server.start();
            return running(port, server::stop);
        }
    },
    JEDIS_MOCK("jedis-mock 1.1.17") {
        @Override
        Running start() throws Exception {
            com.github.fppt.jedismock.RedisServer server =
                    com.github.fppt.jedismock.RedisServer.newRedisServer().start();
            return running(server.getBindPort(), server::stop);
        }
    },
    REDIS_SERVER("redis-server 7.0.15 by ProcessBuilder") {
        @Override
        boolean isThere() {
            try {
                return new ProcessBuilder("redis-server", "--version").start().waitFor() == 0;
            } catch (IOException | InterruptedException e) {
                return false;
            }
        }

        @Override
        Running start() throws Exception {
            int port = freePort();
            Process process = new ProcessBuilder("redis-server", "--port", "" + port, "--save", "")
                    .redirectErrorStream(true).start();
            BufferedReader out = new BufferedReader(
                    new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
            for (String line = out.readLine(); !line.endsWith("Ready to accept connections"); ) {
                line = out.readLine();
            }
            return running(port, () -> {
                process.destroy();
                process.waitFor();
            });
        }
    };

    final String title;

    Subject(String title) {
        this.title = title;
    }

    abstract Running start() throws Exception;

    boolean isThere() {
        return true;
    }

    /** A started server. */
    interface Running {
        int port();

        void stop() throws Exception;
    }

    /** Stops a server. */
    interface Stop {
        void stop() throws Exception;
    }

    static Running running(int port, Stop stop) {
        return new Running() {
            @Override
            public int port() {
                return port;
            }

            @Override
            public void stop() throws Exception {
                stop.stop();
            }
        };
    }

    static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }
}
