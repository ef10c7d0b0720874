package lockredis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.redisson.api.RFuture;
import org.redisson.api.RRemoteService;
import org.redisson.api.RedissonClient;
import org.redisson.api.RemoteInvocationOptions;
import org.redisson.api.annotation.RRemoteAsync;
import org.redisson.remote.RemoteServiceAckTimeoutException;
import org.redisson.remote.RemoteServiceTimeoutException;

/** Calls of an interface that another client implements, with and without acknowledgement and result. */
class RemoteServiceTest extends Family {
    public interface Words {
        String join(String a, List<String> rest);

        void note(String word);

        long slow(long ms) throws InterruptedException;

        int fail(String why);
    }

    @RRemoteAsync(Words.class)
    public interface WordsAsync {
        RFuture<String> join(String a, List<String> rest);

        RFuture<Void> note(String word);

        RFuture<Long> slow(long ms);

        RFuture<Integer> fail(String why);
    }

    private static final RemoteInvocationOptions PATIENT = RemoteInvocationOptions.defaults()
            .expectAckWithin(20, TimeUnit.SECONDS).expectResultWithin(40, TimeUnit.SECONDS);
    private static final RemoteInvocationOptions PATIENT_WITHOUT_ACK = RemoteInvocationOptions.defaults()
            .noAck().expectResultWithin(40, TimeUnit.SECONDS);
    private static final RemoteInvocationOptions PATIENT_WITHOUT_RESULT = RemoteInvocationOptions.defaults()
            .expectAckWithin(20, TimeUnit.SECONDS).noResult();
    private final Queue<String> noted = new ConcurrentLinkedQueue<>();
    private final Queue<String> slowCalls = new ConcurrentLinkedQueue<>();
    private final RedissonClient serving = closing(Clients.open(Server.shared()));
    private final RRemoteService there = serving.getRemoteService(key);
    private final RRemoteService here = client.getRemoteService(key);

    private void serve(int workers) {
        there.register(Words.class, new Words() {
            @Override
            public String join(String a, List<String> rest) {
                return a + String.join("", rest);
            }

            @Override
            public void note(String word) {
                noted.add(word);
            }

            @Override
            public long slow(long ms) throws InterruptedException {
                slowCalls.add("started");
                try {
                    Thread.sleep(ms);
                } catch (InterruptedException e) {
                    slowCalls.add("interrupted");
                    throw e;
                }
                return ms;
            }

            @Override
            public int fail(String why) {
                throw new IllegalArgumentException(why);
            }
        }, workers);
    }

    @Test
    void callsAreAnswered() {
        serve(2);
        Words words = here.get(Words.class, PATIENT);
        assertEquals("abc", words.join("a", List.of("b", "c")));
        words.note("x");
        assertEquals(List.of("x"), List.copyOf(noted));
        assertEquals("no", assertThrows(IllegalArgumentException.class, () -> words.fail("no")).getMessage());
        Await.until("both workers are free", 10_000, () -> there.getFreeWorkers(Words.class) == 2);
        assertEquals(0, here.getPendingInvocations(Words.class));
        there.deregister(Words.class);
    }

    @Test
    void callsMayGoWithoutAckAndResult() {
        serve(1);
        assertEquals("ab", here.get(Words.class, RemoteInvocationOptions.defaults().noAck())
                .join("a", List.of("b")));
        here.get(Words.class, RemoteInvocationOptions.defaults().noAck().noResult()).note("y");
        here.get(Words.class, PATIENT_WITHOUT_RESULT).note("z");
        Await.until("both words", 10_000, () -> List.copyOf(noted).equals(List.of("y", "z")));
        there.deregister(Words.class);
    }

    @Test
    void withoutAWorkerTheAckIsMissed() throws Exception {
        Words words = here.get(Words.class, 10, TimeUnit.SECONDS, 200, TimeUnit.MILLISECONDS);
        assertThrows(RemoteServiceAckTimeoutException.class, () -> words.note("lost"));
        here.get(Words.class, RemoteInvocationOptions.defaults().noAck().noResult()).note("kept");
        assertTrue(here.getPendingInvocations(Words.class) >= 1);
        serve(1);
        Await.until("the waiting call", 10_000, () -> List.copyOf(noted).equals(List.of("kept")));
        there.deregister(Words.class);
    }

    @Test
    void lateResultIsATimeout() {
        serve(1);
        Words words = here.get(Words.class, RemoteInvocationOptions.defaults()
                .expectAckWithin(20, TimeUnit.SECONDS).expectResultWithin(200, TimeUnit.MILLISECONDS));
        assertThrows(RemoteServiceTimeoutException.class, () -> words.slow(3_000));
        there.deregister(Words.class);
    }

    @Test
    void asynchronousCallsRunSideBySideAndAreCancelled() throws Exception {
        serve(3);
        WordsAsync words = here.get(WordsAsync.class, PATIENT_WITHOUT_ACK);
        RFuture<Long> slow = words.slow(30_000);
        Await.until("the start of the slow call", 15_000, () -> slowCalls.contains("started"));
        RFuture<Long> other = words.slow(100);
        assertEquals("ab", words.join("a", List.of("b")).get(15, TimeUnit.SECONDS));
        assertEquals(100, other.get(15, TimeUnit.SECONDS));
        assertFalse(slow.isDone());
        ExecutionException failed = assertThrows(ExecutionException.class,
                () -> words.fail("because").get(15, TimeUnit.SECONDS));
        assertEquals("because", failed.getCause().getMessage());
        slow.cancel(true);
        Await.until("the interrupt", 15_000, () -> slowCalls.contains("interrupted"));
        there.deregister(Words.class);
    }

    @Test
    void oneWaitingCallIsExecuted() throws Exception {
        Words counting = new Words() {
            @Override
            public String join(String a, List<String> rest) {
                return "once";
            }

            @Override
            public void note(String word) {
                noted.add(word);
            }

            @Override
            public long slow(long ms) {
                return 0;
            }

            @Override
            public int fail(String why) {
                return 0;
            }
        };
        assertFalse(there.tryExecute(Words.class, counting, 1, TimeUnit.SECONDS)); // less is for ever
        // 3.52.0 acknowledges no such call, so the caller expects no acknowledgement.
        WordsAsync words = here.get(WordsAsync.class, PATIENT_WITHOUT_ACK);
        RFuture<String> answer = words.join("a", List.of());
        assertTrue(there.tryExecute(Words.class, counting, 15, TimeUnit.SECONDS));
        assertEquals("once", answer.get(15, TimeUnit.SECONDS));
    }
}
