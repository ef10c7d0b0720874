package lockredis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.redisson.api.FunctionLibrary;
import org.redisson.api.FunctionMode;
import org.redisson.api.FunctionResult;
import org.redisson.api.FunctionStats;
import org.redisson.api.RFunction;
import org.redisson.api.RedissonClient;
import org.redisson.client.RedisException;
import org.redisson.client.codec.StringCodec;

/** Libraries of functions, on a server of its own because they are flushed. */
class FunctionTest extends Family {
    private static final Server OWN = Server.start();
    private static final String CODE = """
            local calls = 0
            redis.register_function{function_name='count', flags={'no-writes'}, callback=function(keys, args)
              calls = calls + 1
              return calls
            end}
            redis.register_function('put', function(keys, args) return redis.call('set', keys[1], args[1]) end)
            redis.register_function{function_name='get', flags={'no-writes'}, callback=function(keys, args)
              return redis.call('get', keys[1])
            end}
            redis.register_function('list', function(keys, args) return {keys[1], args[1], args[2]} end)
            """;
    private final RedissonClient alone = closing(Clients.open(OWN, config -> config.setCodec(StringCodec.INSTANCE)));
    private final RFunction functions = alone.getFunction();

    @AfterAll
    static void stop() {
        OWN.close();
    }

    @BeforeEach
    void load() {
        functions.flush();
        functions.load("lib", CODE);
    }

    private <T> T call(FunctionMode mode, String name, FunctionResult result, Object... args) {
        return functions.call(mode, name, result, List.of(key), args);
    }

    @Test
    void functionsAreCalled() {
        assertEquals("OK", call(FunctionMode.WRITE, "put", FunctionResult.STRING, "value"));
        assertEquals("value", call(FunctionMode.READ, "get", FunctionResult.VALUE));
        assertEquals(List.of(key, "a", "b"), call(FunctionMode.WRITE, "list", FunctionResult.LIST, "a", "b"));
        assertEquals(1L, functions.<Long>call(FunctionMode.READ, "count", FunctionResult.LONG));
        assertEquals(2L, functions.<Long>call(FunctionMode.READ, "count", FunctionResult.LONG));
        // FCALL_RO refuses a function that may write.
        assertThrows(RedisException.class, () -> call(FunctionMode.READ, "put", FunctionResult.STRING, "x"));
        assertTrue(assertThrows(RedisException.class, () -> call(FunctionMode.WRITE, "absent", FunctionResult.LONG))
                .getMessage().startsWith("ERR Function not found"));
    }

    @Test
    void librariesAreListedReplacedAndDeleted() {
        functions.load("other", "redis.register_function('seven', function() return 7 end)");
        FunctionLibrary lib = functions.list("lib").get(0);
        assertEquals("lib", lib.getName());
        assertEquals("LUA", lib.getEngine());
        Set<String> names = new TreeSet<>();
        lib.getFunctions().forEach(f -> names.add(f.getName() + f.getFlags()));
        assertEquals(Set.of("count[NO_WRITES]", "get[NO_WRITES]", "put[]", "list[]"), names);
        assertEquals(Set.of("lib", "other"),
                new TreeSet<>(functions.list().stream().map(FunctionLibrary::getName).toList()));
        assertThrows(RedisException.class, () -> functions.load("other", "return 1"));
        functions.loadAndReplace("other", "redis.register_function('seven', function() return 70 end)");
        assertEquals(70L, functions.<Long>call(FunctionMode.WRITE, "seven", FunctionResult.LONG));
        functions.delete("other");
        assertThrows(RedisException.class, () -> functions.delete("other"));
        FunctionStats stats = functions.stats();
        assertNull(stats.getRunningFunction());
        assertEquals(1, stats.getEngines().get("LUA").getLibraries());
        assertEquals(4, stats.getEngines().get("LUA").getFunctions());
    }

    @Test
    void librariesAreDumpedAndRestored() {
        byte[] dump = functions.dump();
        assertThrows(RedisException.class, () -> functions.restore(dump));
        functions.flush();
        assertEquals(List.of(), functions.list());
        functions.restore(dump);
        call(FunctionMode.WRITE, "put", FunctionResult.STRING, "again");
        assertEquals("again", call(FunctionMode.READ, "get", FunctionResult.VALUE));
        functions.load("extra", "redis.register_function('extra', function() return 1 end)");
        functions.restoreAndReplace(dump);
        assertEquals(2, functions.list().size());
        functions.restoreAfterFlush(dump);
        assertEquals(1, functions.list().size());
    }
}
