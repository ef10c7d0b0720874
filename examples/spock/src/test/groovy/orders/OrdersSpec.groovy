package orders

import io.github.lockredis.server.LockredisServer
import spock.lang.Shared
import spock.lang.Specification

class OrdersSpec extends Specification {
    @Lockredis
    @Shared
    LockredisServer server

    def "packs #order"() {
        when:
        server.command('SET', order + ':packed', 'true')

        then:
        server.command('DBSIZE') == 1

        where:
        order << ['order:42', 'order:43']
    }

    def "a lock has a holder"() {
        given:
        def token = UUID.randomUUID().toString()
        server.command('SET', 'order:42', token, 'NX', 'PX', '30000')

        expect:
        server.locks()[0].holders()[0].owner() == token

        cleanup:
        server.command('DEL', 'order:42')
    }
}
