package lockredis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;
import org.redisson.spring.data.connection.RedissonConnectionFactory;
import org.springframework.context.ApplicationEvent;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.data.redis.core.RedisTemplate;
import org.springframework.data.redis.listener.PatternTopic;
import org.springframework.data.redis.listener.RedisMessageListenerContainer;
import org.springframework.data.redis.serializer.RedisSerializer;
import org.springframework.session.FindByIndexNameSessionRepository;
import org.springframework.session.Session;
import org.springframework.session.data.redis.RedisIndexedSessionRepository;
import org.springframework.session.data.redis.config.ConfigureNotifyKeyspaceEventsAction;
import org.springframework.session.events.SessionDeletedEvent;
import org.springframework.session.events.SessionExpiredEvent;

/** Spring Session, which uses hashes, sets, expiry and keyspace events. */
class SpringSessionTest extends Scenario {
    private static final String USER = FindByIndexNameSessionRepository.PRINCIPAL_NAME_INDEX_NAME;
    private final RedissonConnectionFactory factory = new RedissonConnectionFactory(client);
    private final Queue<ApplicationEvent> events = new ConcurrentLinkedQueue<>();

    private RedisIndexedSessionRepository repository() {
        RedisTemplate<String, Object> template = new RedisTemplate<>();
        template.setConnectionFactory(factory);
        template.setKeySerializer(RedisSerializer.string());
        template.setHashKeySerializer(RedisSerializer.string());
        template.afterPropertiesSet();
        RedisIndexedSessionRepository sessions = new RedisIndexedSessionRepository(template);
        sessions.setRedisKeyNamespace(key);
        sessions.setApplicationEventPublisher((ApplicationEventPublisher) event -> events.add((ApplicationEvent) event));
        sessions.afterPropertiesSet();
        closing(sessions::destroy);
        return sessions;
    }

    @Test
    void sessionIsSavedFoundAndDeleted() {
        roundTrip(repository());
    }

    /** Its session type is not public. */
    private <S extends Session> void roundTrip(FindByIndexNameSessionRepository<S> sessions) {
        S session = sessions.createSession();
        session.setAttribute("cart", "3 apples");
        session.setAttribute(USER, key);
        sessions.save(session);
        S found = sessions.findById(session.getId());
        assertEquals("3 apples", found.getAttribute("cart"));
        found.setAttribute("cart", "4 apples");
        sessions.save(found);
        Map<String, S> byUser = sessions.findByIndexNameAndIndexValue(USER, key);
        assertEquals(1, byUser.size());
        assertEquals("4 apples", byUser.get(session.getId()).getAttribute("cart"));
        sessions.deleteById(session.getId());
        assertNull(sessions.findById(session.getId()));
        assertTrue(sessions.findByIndexNameAndIndexValue(USER, key).isEmpty());
    }

    @Test
    void endedSessionsAreHeardOf() throws Exception {
        new ConfigureNotifyKeyspaceEventsAction().configure(factory.getConnection());
        RedisIndexedSessionRepository sessions = repository();
        RedisMessageListenerContainer container = new RedisMessageListenerContainer();
        container.setConnectionFactory(factory);
        container.addMessageListener(sessions, new PatternTopic("__keyevent@0__:del"));
        container.addMessageListener(sessions, new PatternTopic("__keyevent@0__:expired"));
        container.afterPropertiesSet();
        container.start();
        closing(container::destroy);
        expire(sessions, Duration.ofSeconds(3));
        Await.until("the expired session", 15_000,
                () -> events.stream().anyMatch(SessionExpiredEvent.class::isInstance));
        delete(sessions);
        Await.until("the deleted session", 5_000,
                () -> events.stream().anyMatch(SessionDeletedEvent.class::isInstance));
    }

    private <S extends Session> void expire(FindByIndexNameSessionRepository<S> sessions, Duration life) {
        S session = sessions.createSession();
        session.setMaxInactiveInterval(life);
        sessions.save(session);
        assertNotNull(sessions.findById(session.getId()));
    }

    private <S extends Session> void delete(FindByIndexNameSessionRepository<S> sessions) {
        S session = sessions.createSession();
        sessions.save(session);
        sessions.deleteById(session.getId());
    }
}
