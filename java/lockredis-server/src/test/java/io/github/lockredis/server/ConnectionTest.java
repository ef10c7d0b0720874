package io.github.lockredis.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

import org.junit.jupiter.api.Test;

/** Replies, right and wrong ones. */
class ConnectionTest {
    /** Returns what a connection makes of bytes that a server sends. */
    private static Object replyOf(String bytes) throws Exception {
        try (ServerSocket listener = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
            Thread server = new Thread(() -> {
                try (Socket socket = listener.accept()) {
                    socket.getInputStream().read();
                    socket.getOutputStream().write(bytes.getBytes(StandardCharsets.UTF_8));
                    socket.shutdownOutput();
                    while (socket.getInputStream().read() >= 0) {
                        continue; // until the client has read everything
                    }
                } catch (IOException e) {
                    // the client closed first
                }
            });
            server.setDaemon(true);
            server.start();
            Endpoint at = new Endpoint("127.0.0.1", listener.getLocalPort(), null, null, 0, false, null);
            try (Connection connection = new Connection(at, 60_000)) {
                return connection.call("PING");
            }
        }
    }

    @Test
    void everyKindOfReplyIsRead() throws Exception {
        assertEquals("OK", replyOf("+OK\r\n"));
        assertEquals(-42L, replyOf(":-42\r\n"));
        assertEquals("\u00e4\r\n", replyOf("$4\r\n\u00e4\r\n\r\n"));
        assertEquals("", replyOf("$0\r\n\r\n"));
        assertEquals(null, replyOf("$-1\r\n"));
        assertEquals(null, replyOf("*-1\r\n"));
        assertEquals(Arrays.asList("a", 1L, Arrays.asList(), null, "-ERR b"),
                replyOf("*5\r\n$1\r\na\r\n:1\r\n*0\r\n$-1\r\n-ERR b\r\n"));
        IOException e = assertThrows(Connection.ErrorReply.class, () -> replyOf("-ERR no\r\n"));
        assertEquals("ERR no", e.getMessage());
    }

    @Test
    void whatIsNoReplyIsRefused() {
        StringBuilder deep = new StringBuilder();
        for (int i = 0; i < 100; i++) {
            deep.append("*1\r\n");
        }
        for (String wrong : new String[] {"", "+OK", "HTTP/1.1 400 Bad Request\r\n", "$5\r\nab\r\n",
            "$1\r\nabc\r\n", "$99999999999\r\n", "$-2\r\n", ":a\r\n", "*2147483647\r\n", "\r\n", deep.toString()}) {
            assertThrows(IOException.class, () -> replyOf(wrong), wrong);
        }
    }
}
