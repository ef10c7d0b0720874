package orders

import io.github.lockredis.server.EndWatch
import io.github.lockredis.server.LeakCheck
import io.github.lockredis.server.LockredisServer
import io.github.lockredis.server.ServerState
import org.spockframework.runtime.AbstractRunListener
import org.spockframework.runtime.extension.IAnnotationDrivenExtension
import org.spockframework.runtime.model.ErrorInfo
import org.spockframework.runtime.model.FieldInfo

/** Starts a server for the field before the specification, and fails an iteration that leaves a lock. */
class LockredisExtension implements IAnnotationDrivenExtension<Lockredis> {
    @Override
    void visitFieldAnnotation(Lockredis annotation, FieldInfo field) {
        LockredisServer server = null
        Runnable close = null // of the server. Features cannot call it
        EndWatch ends = null // of the server
        boolean running = false // an iteration

        field.parent.addSharedInitializerInterceptor {
            server = LockredisServer.start()
            close = server.closeOnlyBy('Spock')
            ends = new EndWatch(server)
            field.writeValue(it.sharedInstance, server)
            it.proceed()
        }
        field.parent.bottomSpec.allFeatures*.addIterationInterceptor {
            LeakCheck.prepare(server, true)
            ends.begin(it.iteration)
            def check = LeakCheck.begin(server)
            running = true
            it.proceed() // with setup and cleanup. It throws nothing: Spock has the failures
            running = false
            String leaks = check.end(true)
            String end = ends.end(it.iteration, it.iteration.displayName)
            if (leaks || end) {
                throw new AssertionError((Object) (end ?: leaks)) // behind the iteration's own failure
            }
        }
        field.parent.bottomSpec.addListener(new AbstractRunListener() {
            @Override
            void error(ErrorInfo error) {
                if (running) { // who holds what, before cleanup changes it
                    ServerState.addTo(error.exception, server)
                }
            }
        })
        field.parent.addCleanupSpecInterceptor {
            it.proceed()
            close?.run()
            String end = ends?.outside()
            if (end) {
                throw new AssertionError((Object) end)
            }
        }
    }
}
