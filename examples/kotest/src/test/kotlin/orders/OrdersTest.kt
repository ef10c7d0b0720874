package orders

import io.kotest.core.spec.style.FunSpec
import io.kotest.matchers.shouldBe
import java.util.UUID

class OrdersTest : FunSpec({
    val server = extension(LockredisExtension()).server

    test("a lock has a holder") {
        val token = UUID.randomUUID().toString()
        server.command("SET", "order:42", token, "NX", "PX", "30000")
        server.locks()[0].holders()[0].owner() shouldBe token
        server.command("DEL", "order:42")
    }

    context("an order") {
        test("is packed") {
            server.command("SET", "order:42:packed", "true", "NX") shouldBe "OK"
        }

        test("is not packed at first") {
            server.command("EXISTS", "order:42:packed") shouldBe 0L
        }
    }
})
