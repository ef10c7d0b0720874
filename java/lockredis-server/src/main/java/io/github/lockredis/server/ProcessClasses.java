package io.github.lockredis.server;

/**
 * Loads the JDK's classes for processes in a thread of its own, while the first start in a JVM looks
 * for the executable and checks it. Both take some 15 ms, mostly for the JDK's first lambdas.
 */
final class ProcessClasses extends Thread {
    private static final String[] NAMES = {"java.lang.ProcessHandleImpl", "java.lang.ProcessImpl",
        "java.util.concurrent.CompletableFuture"};

    private static boolean begun; // guarded by the class

    private ProcessClasses() {
        super("lockredis-load");
        setDaemon(true);
    }

    /** Begins to load them. Does nothing the second time. */
    static synchronized void load() {
        if (!begun) {
            begun = true;
            new ProcessClasses().start();
        }
    }

    @Override
    public void run() {
        try {
            for (String name : NAMES) {
                Class.forName(name);
            }
        } catch (ClassNotFoundException | LinkageError e) {
            // Java 8 has others. What is missing is loaded when the process starts.
        }
    }
}
