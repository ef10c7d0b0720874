package io.github.lockredis.server;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
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
            case "delete": // the folder of the executable, while its servers run
                delete(Paths.get(executable(server)));
                server.restart();
                delete(Paths.get(executable(server)));
                try (LockredisTopology topology = LockredisServer.sentinel()) {
                    delete(Paths.get(executable(topology.server())));
                    topology.server().restart();
                }
                server.restart();
                System.out.println("again " + executable(server));
                server.close();
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

    private static void delete(Path executable) throws IOException {
        Files.delete(executable);
        Files.delete(executable.getParent());
        Files.delete(executable.getParent().getParent());
    }

    /** Returns the file that a server runs from. */
    static String executable(LockredisServer server) {
        List<String> command = server.commandLine();
        return command.get(0);
    }
}
