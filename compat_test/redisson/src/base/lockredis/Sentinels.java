package lockredis;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import redis.clients.jedis.Jedis;

/** A primary with a password and three Sentinels of it, each a process of server.command. */
final class Sentinels implements AutoCloseable {
    static final String MASTER = "mymaster";
    static final String PASSWORD = "open sesame";

    final Server primary = Server.start("--requirepass", PASSWORD);
    private final String password;
    private final List<Integer> ports = new ArrayList<>();
    private final List<Process> processes = new ArrayList<>();

    /** password is the Sentinels' own, "" for none. */
    Sentinels(String password) {
        this.password = password;
        for (int i = 0; i < 3; i++) {
            launch(Server.freePort());
        }
        Runtime.getRuntime().addShutdownHook(new Thread(this::close));
    }

    private void launch(int port) {
        try {
            Path dir = Files.createTempDirectory("sentinel");
            dir.toFile().deleteOnExit();
            Path conf = dir.resolve("sentinel.conf");
            Files.writeString(conf, "port " + port + "\nbind 127.0.0.1\n"
                    + "requirepass \"" + password + "\"\n"
                    + "sentinel monitor " + MASTER + " 127.0.0.1 " + primary.port() + " 2\n"
                    + "sentinel auth-pass " + MASTER + " \"" + PASSWORD + "\"\n"
                    + "sentinel down-after-milliseconds " + MASTER + " 1500\n");
            processes.add(new ProcessBuilder(System.getProperty("server.command", "redis-server"),
                    conf.toString(), "--sentinel").directory(new File(dir.toString())).redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD).start());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        ports.add(port);
    }

    /** Waits until each Sentinel knows the two others and sees the primary. */
    void await() {
        for (int port : ports) {
            Await.until("a Sentinel on port " + port + " that knows the others", 30_000,
                    () -> info(port).contains("status=ok") && info(port).contains("sentinels=3"));
        }
    }

    private String info(int port) {
        try (Jedis jedis = new Jedis("127.0.0.1", port, 5_000)) {
            if (!password.isEmpty()) {
                jedis.auth(password);
            }
            return jedis.info("sentinel");
        } catch (RuntimeException e) {
            return ""; // it is not up yet
        }
    }

    /** The addresses as the articles about Spring give them: one of the three twice. */
    String[] addresses() {
        List<Integer> given = new ArrayList<>(ports);
        given.add(ports.get(0));
        return given.stream().map(port -> Api.address("redis://127.0.0.1:" + port)).toArray(String[]::new);
    }

    @Override
    public void close() {
        processes.forEach(Process::destroyForcibly);
        primary.close();
    }
}
