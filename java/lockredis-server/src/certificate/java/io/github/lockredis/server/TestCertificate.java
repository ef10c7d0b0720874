package io.github.lockredis.server;

import java.io.File;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.Base64;

/**
 * A certificate for 127.0.0.1 and its key, made by the JDK's keytool. The tests of several modules
 * compile this file.
 */
public final class TestCertificate {
    public final Path certificate;
    public final Path privateKey;

    private TestCertificate(Path certificate, Path privateKey) {
        this.certificate = certificate;
        this.privateKey = privateKey;
    }

    /** Makes a certificate in a folder. */
    public static TestCertificate in(Path folder) throws Exception {
        Path store = folder.resolve("keys.p12");
        Path out = folder.resolve("keytool.txt");
        Process keytool = new ProcessBuilder(
                System.getProperty("java.home") + File.separator + "bin" + File.separator + "keytool",
                "-genkeypair", "-keystore", store.toString(), "-storetype", "PKCS12",
                "-storepass", "password", "-alias", "server", "-dname", "CN=localhost",
                "-keyalg", "EC", "-ext", "san=ip:127.0.0.1,dns:localhost", "-validity", "3650")
                .redirectErrorStream(true).redirectOutput(out.toFile()).start();
        if (keytool.waitFor() != 0) {
            throw new AssertionError(new String(Files.readAllBytes(out), StandardCharsets.UTF_8));
        }
        KeyStore keys = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(store)) {
            keys.load(in, "password".toCharArray());
        }
        return new TestCertificate(
                pem(folder.resolve("server.crt"), "CERTIFICATE",
                        keys.getCertificate("server").getEncoded()),
                pem(folder.resolve("server.key"), "PRIVATE KEY",
                        keys.getKey("server", "password".toCharArray()).getEncoded()));
    }

    private static Path pem(Path file, String type, byte[] content) throws Exception {
        String body = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(content);
        String pem = "-----BEGIN " + type + "-----\n" + body + "\n-----END " + type + "-----\n";
        return Files.write(file, pem.getBytes(StandardCharsets.US_ASCII));
    }
}
