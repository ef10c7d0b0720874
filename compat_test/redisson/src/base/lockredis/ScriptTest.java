package lockredis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.redisson.api.RScript;
import org.redisson.api.RScript.Mode;
import org.redisson.api.RScript.ReturnType;
import org.redisson.api.RedissonClient;
import org.redisson.client.RedisException;
import org.redisson.client.codec.StringCodec;

/** User scripts through RScript. */
class ScriptTest extends Scenario {
    private static final ReturnType INTEGER = type("INTEGER", "LONG");
    private static final ReturnType STATUS = type("STATUS", "STRING");
    private static final ReturnType MULTI = type("MULTI", "LIST");
    private final RedissonClient plain = closing(Clients.open(Server.shared(),
            config -> config.setCodec(StringCodec.INSTANCE)));
    private final RScript script = plain.getScript();

    @Test
    void repliesOfAllKindsComeBack() {
        List<Object> keys = List.of(key);
        assertEquals(Long.valueOf(3), eval("return 3.99", INTEGER, keys));
        assertEquals(key, eval("return KEYS[1]", ReturnType.VALUE, keys));
        assertNull(eval("return false", ReturnType.VALUE, keys));
        assertEquals(true, eval("return 1", ReturnType.BOOLEAN, keys));
        assertEquals("OK", eval("return redis.call('SET', KEYS[1], ARGV[1])", STATUS, keys, "v"));
        assertEquals(List.of("a", "b"), eval("return {'a', ARGV[1], nil, 'c'}", MULTI, keys, "b"));
        assertEquals("v", eval("return redis.call('GET', KEYS[1])", ReturnType.VALUE, keys));
        plain.getKeys().delete(key);
    }

    @Test
    void loadedScriptIsCalledByItsSha() {
        String sha = script.scriptLoad("return {KEYS[1], ARGV[1], '" + key + "'}");
        assertEquals(List.of(true, false), script.scriptExists(sha, "0".repeat(40)));
        List<Object> reply = script.evalSha(Mode.READ_ONLY, sha, MULTI, List.of("k"), "a");
        assertEquals(List.of("k", "a", key), reply);
    }

    @Test
    void errorsArriveAsTheServerSaidThem() {
        assertThrowsWith("NOSCRIPT", () -> script.evalSha(Mode.READ_WRITE, "f".repeat(40), ReturnType.VALUE));
        assertThrowsWith("Error compiling script", () -> script.eval(Mode.READ_WRITE, "return (", ReturnType.VALUE));
        assertThrowsWith("MY own words",
                () -> script.eval(Mode.READ_WRITE, "return redis.error_reply('MY own words')", ReturnType.VALUE));
        plain.getList(key).add("x");
        assertThrowsWith("WRONGTYPE",
                () -> eval("return redis.call('GET', KEYS[1])", ReturnType.VALUE, List.of(key)));
        plain.getKeys().delete(key);
    }

    /** 4.x renamed some types. */
    private static ReturnType type(String before, String since) {
        return Arrays.stream(ReturnType.values())
                .filter(type -> type.name().equals(before) || type.name().equals(since)).findFirst().orElseThrow();
    }

    private <T> T eval(String text, ReturnType type, List<Object> keys, Object... args) {
        return script.eval(Mode.READ_WRITE, text, type, keys, args);
    }

    private static void assertThrowsWith(String words, org.junit.jupiter.api.function.Executable call) {
        RedisException e = assertThrows(RedisException.class, call);
        assertTrue(String.valueOf(e.getMessage()).contains(words), e.getMessage());
    }
}
