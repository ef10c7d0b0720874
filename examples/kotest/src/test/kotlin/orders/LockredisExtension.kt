package orders

import io.github.lockredis.server.EndWatch
import io.github.lockredis.server.LeakCheck
import io.github.lockredis.server.LockredisServer
import io.github.lockredis.server.ServerState
import io.kotest.core.extensions.SpecExtension
import io.kotest.core.extensions.TestCaseExtension
import io.kotest.core.spec.Spec
import io.kotest.core.test.TestCase
import io.kotest.core.test.TestType
import io.kotest.engine.test.TestResult

/** A server for a spec. It is empty before each test, and a test that leaves a lock fails. */
class LockredisExtension : TestCaseExtension, SpecExtension {
    val server: LockredisServer = LockredisServer.start()
    private val close = server.closeOnlyBy("Kotest") // Tests cannot call it
    private val ends = EndWatch(server)

    override suspend fun intercept(testCase: TestCase, execute: suspend (TestCase) -> TestResult): TestResult {
        if (testCase.type != TestType.Test) { // a container, whose tests are checked
            return execute(testCase)
        }
        LeakCheck.prepare(server, true)
        ends.begin(testCase)
        val check = LeakCheck.begin(server)
        val result = execute(testCase) // with beforeTest and afterTest
        val failure = result.errorOrNull
        if (failure != null) {
            ServerState.addTo(failure, server) // who holds what, before the data is deleted
        }
        val leaks = check.end(true)
        val error = AssertionError(ends.end(testCase, testCase.name.name) ?: leaks ?: return result)
        if (failure == null) {
            return TestResult.Failure(result.duration, error)
        }
        failure.addSuppressed(error) // the test's own failure comes first
        return result
    }

    override suspend fun intercept(spec: Spec, execute: suspend (Spec) -> Unit) {
        try {
            execute(spec) // with afterSpec
        } finally {
            close.run()
        }
        ends.outside()?.let { throw AssertionError(it) }
    }
}
