package io.github.lockredis.server;

import java.util.List;

/** What the JVM of a {@link Child} does. */
final class ChildMain {
    private ChildMain() {
    }

    public static void main(String[] args) throws Exception {
        LockredisServer server;
        try {
            server = LockredisServer.start();
        } catch (LockredisException e) {
            System.out.println("failed " + e.getMessage());
            return;
        }
        System.out.println("port " + server.port());
        System.out.println("executable " + executable(server));
        server.command("PING");
        System.out.println("answered yes");
        switch (args[0]) {
            case "leave": // main ends, nothing is closed
                break;
            case "hold": // until the parent closes the standard input
                while (System.in.read() >= 0) {
                    continue;
                }
                server.close();
                break;
            case "close":
                server.close();
                break;
            case "shutdown":
                try {
                    server.command("SHUTDOWN");
                } catch (LockredisException e) {
                    System.in.read(); // until the parent closes the standard input
                }
                break;
            case "topology":
                try (LockredisTopology topology = LockredisServer.sentinel()) {
                    topology.server().restart();
                }
                break;
            default:
                throw new IllegalArgumentException(args[0]);
        }
        System.out.println("done yes");
    }

    /** Returns the file that a server runs from. */
    static String executable(LockredisServer server) {
        List<String> command = server.commandLine();
        return command.get(0);
    }
}
