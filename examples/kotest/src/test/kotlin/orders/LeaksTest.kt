package orders

import io.github.lockredis.server.LockredisException
import io.github.lockredis.server.LockredisServer
import io.kotest.core.spec.Spec
import io.kotest.core.spec.SpecRef
import io.kotest.core.spec.style.FunSpec
import io.kotest.engine.TestEngineLauncher
import io.kotest.engine.listener.CollectingTestEngineListener
import io.kotest.matchers.collections.shouldBeEmpty
import io.kotest.matchers.collections.shouldContainExactlyInAnyOrder
import io.kotest.matchers.shouldBe
import io.kotest.matchers.string.shouldContain
import java.util.UUID
import kotlin.reflect.KClass

private const val LOCK = "lock \"order:42\" is held by"

/** A test that leaves something behind fails, and not the test behind it. */
class LeaksTest : FunSpec({
    suspend fun run(spec: KClass<out Spec>): CollectingTestEngineListener {
        val report = CollectingTestEngineListener()
        TestEngineLauncher().withListener(report).withSpecRefs(SpecRef.Reference(spec)).execute()
        return report
    }

    test("the right tests fail") {
        val report = run(Forgetful::class)
        val failures = report.tests.filterValues { it.isErrorOrFailure }
                .map { (test, result) -> test.name.name to result.errorOrNull!! }.toMap()
        failures.keys.shouldContainExactlyInAnyOrder("forgets a lock", "fails", "ends the server", "closes")
        report.tests.size shouldBe 5
        failures["forgets a lock"]!!.message shouldContain LOCK
        failures["ends the server"]!!.message shouldContain "ended by itself"
        failures["closes"]!!.message shouldContain "a test must not close lockredis"
        val own = failures["fails"]!!
        own.message shouldBe "the packet is empty"
        own.suppressed[0].message shouldContain "when the test failed:\n  set order:42, ttl "
        own.suppressed[1].message shouldContain LOCK
    }

    test("an end behind the tests fails the spec") {
        val report = run(EndsBehind::class)
        report.tests.values.map { it.isSuccess } shouldBe listOf(true)
        report.specs.values.first().errorOrNull!!.message shouldContain "after the test passes: lockredis at "
    }
})

/** Tests that fail, but for the last. LeaksTest runs them. */
private class Forgetful : FunSpec({
    val server = extension(LockredisExtension()).server

    fun forgetALock() {
        server.command("SET", "order:42", UUID.randomUUID().toString(), "NX", "PX", "30000")
    }

    test("forgets a lock") { forgetALock() }

    test("fails") {
        forgetALock()
        error("the packet is empty")
    }

    test("ends the server") { shutdown(server) }

    test("closes") { server.close() }

    test("passes") { server.locks().shouldBeEmpty() }
})

private class EndsBehind : FunSpec({
    val server = extension(LockredisExtension()).server

    test("passes") { server.isRunning shouldBe true }

    afterSpec { shutdown(server) }
})

private fun shutdown(server: LockredisServer) {
    try {
        server.command("SHUTDOWN")
    } catch (_: LockredisException) {
        // it has ended
    }
}
