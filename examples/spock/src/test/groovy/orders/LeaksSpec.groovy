package orders

import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass

import io.github.lockredis.server.LockredisException
import io.github.lockredis.server.LockredisServer
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder
import org.junit.platform.launcher.core.LauncherFactory
import org.junit.platform.launcher.listeners.SummaryGeneratingListener
import spock.lang.Shared
import spock.lang.Specification

/** A feature that leaves something behind fails, and not the feature behind it. */
class LeaksSpec extends Specification {
    static final String LOCK = 'lock "order:42" is held by'
    static final String STATE = 'when the test failed:\n  set order:42, ttl '

    def "the right features fail"() {
        when:
        def report = run(Forgetful)
        def failures = report.failures.collectEntries { [it.testIdentifier.displayName, it.exception] }

        then:
        report.testsSucceededCount == 3 // two iterations, and the feature that they are of
        failures.keySet() == ['forgets a lock', 'fails', 'ends the server', 'closes', 'packs order:43'] as Set
        failures['forgets a lock'].message.contains(LOCK)
        failures['packs order:43'].message.contains(LOCK)
        failures['ends the server'].message.contains('ended by itself')
        failures['closes'].cause.message.contains('a test must not close lockredis')
        failures['fails'].message.startsWith('Condition not satisfied:')
        failures['fails'].suppressed.length == 2
        failures['fails'].suppressed[0].message.contains(STATE)
        failures['fails'].suppressed[1].message.contains(LOCK)
    }

    def "a failure tells what cleanup has found"() {
        when:
        def report = run(CleansUp)

        then:
        report.failures.size() == 1
        report.failures[0].exception.suppressed.length == 1
        report.failures[0].exception.suppressed[0].message.contains(STATE)
    }

    def "an end behind the features fails the specification"() {
        when:
        def report = run(EndsBehind)

        then:
        report.testsFailedCount == 0
        report.failures.size() == 1
        report.failures[0].exception.message.startsWith('after the test passes: lockredis at ')
    }

    private static run(Class<?> spec) {
        def report = new SummaryGeneratingListener()
        LauncherFactory.create().execute(
                LauncherDiscoveryRequestBuilder.request().selectors(selectClass(spec)).build(), report)
        report.summary
    }

    static abstract class WithServer extends Specification {
        @Lockredis
        @Shared
        LockredisServer server
        @Shared
        String uri = server.uri()

        protected forgetALock() {
            server.command('SET', 'order:42', UUID.randomUUID().toString(), 'NX', 'PX', '30000')
        }
    }

    static class Forgetful extends WithServer {
        def "forgets a lock"() {
            expect:
            forgetALock() == 'OK'
        }

        def "fails"() {
            expect:
            forgetALock() == 'the packet is empty'
        }

        def "ends the server"() {
            when:
            server.command('SHUTDOWN')

            then:
            thrown(LockredisException)
        }

        def "closes"() {
            expect:
            server.close()
        }

        def "packs #order"() {
            expect:
            server.uri() == uri
            server.locks().empty
            order != 'order:43' || forgetALock()

            where:
            order << ['order:42', 'order:43', 'order:44']
        }
    }

    static class CleansUp extends WithServer {
        def "fails"() {
            expect:
            forgetALock() == 'the packet is empty'
        }

        def cleanup() {
            server.command('DEL', 'order:42')
        }
    }

    static class EndsBehind extends WithServer {
        def "passes"() {
            expect:
            server.running
        }

        def cleanupSpec() {
            try {
                server.command('SHUTDOWN')
            } catch (LockredisException ignored) {
                // it has ended
            }
        }
    }
}
