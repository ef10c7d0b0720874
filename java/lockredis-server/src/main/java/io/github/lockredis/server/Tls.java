package io.github.lockredis.server;

import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;

import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;
import javax.net.ssl.TrustManagerFactory;

/** TLS for the library's own connections. */
final class Tls {
    private Tls() {
    }

    /** Shakes hands over a connected socket. The socket returned closes it. */
    static Socket over(Socket plain, Endpoint to) throws IOException {
        SSLSocket socket = (SSLSocket) factory(to.certificate)
                .createSocket(plain, to.host, to.port, true);
        socket.startHandshake();
        return socket;
    }

    /** Returns a factory that trusts the certificates of a PEM file only. Null: those of the JVM. */
    private static SSLSocketFactory factory(Path certificate) throws IOException {
        if (certificate == null) {
            return (SSLSocketFactory) SSLSocketFactory.getDefault();
        }
        try (InputStream in = Files.newInputStream(certificate)) {
            KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
            trusted.load(null, null);
            int n = 0;
            for (Certificate c : CertificateFactory.getInstance("X.509").generateCertificates(in)) {
                trusted.setCertificateEntry("certificate" + n++, c);
            }
            TrustManagerFactory managers =
                    TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            managers.init(trusted);
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(null, managers.getTrustManagers(), null);
            return context.getSocketFactory();
        } catch (GeneralSecurityException e) {
            throw new IOException("read certificate " + certificate + ": " + e.getMessage(), e);
        }
    }
}
