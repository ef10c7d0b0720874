package lockredis;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * The second JVM, see {@link Peer}. It ends when its standard input is closed, so it never
 * outlives the test.
 */
final class PeerMain {
    private PeerMain() {
    }

    public static void main(String[] args) throws IOException {
        Consumer<Config> change = config -> {
            if (Boolean.parseBoolean(args[2])) {
                Api.fairWait(config, Steps.IMPATIENT_MS);
            }
        };
        RedissonClient client = Redisson.create(Boolean.parseBoolean(args[1])
                ? Clients.clusterConfig(args[0], change) : Clients.config(args[0], change));
        System.out.println(Peer.READY + " ready");
        Map<String, Actor> threads = new HashMap<>();
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] words = line.split(" ");
            String[] step = Arrays.copyOfRange(words, 2, words.length);
            threads.computeIfAbsent(words[1], name -> new Actor()).beginStep(() -> answer(words[0], client, step));
        }
        Runtime.getRuntime().halt(0);
    }

    private static void answer(String id, RedissonClient client, String[] step) {
        String result;
        try {
            result = Steps.run(client, step);
        } catch (Exception e) {
            result = e.toString().replace('\n', ' ');
        }
        synchronized (System.out) {
            System.out.println(id + " " + result);
        }
    }
}
