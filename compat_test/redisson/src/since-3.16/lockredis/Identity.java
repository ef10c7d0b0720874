package lockredis;

import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.Base64;
import java.util.List;

/**
 * A key with a self-signed certificate, made by the JDK's keytool: as a key store, and as PEM
 * files for a server.
 */
final class Identity {
    static final String PASSWORD = "open sesame";

    private final Path dir;
    private final String name;

    private Identity(Path dir, String name) {
        this.dir = dir;
        this.name = name;
    }

    static Identity make(Path dir, String name) throws Exception {
        Identity identity = new Identity(dir, name);
        Process keytool = new ProcessBuilder(List.of(Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair", "-alias", name, "-keyalg", "EC", "-groupname", "secp256r1", "-dname", "CN=" + name,
                "-ext", "san=ip:127.0.0.1", "-ext", "bc:c", "-validity", "2", "-storetype", "PKCS12",
                "-keystore", identity.keyStore().toString(), "-storepass", PASSWORD)).redirectErrorStream(true).start();
        String said = new String(keytool.getInputStream().readAllBytes());
        if (keytool.waitFor() != 0) {
            throw new IllegalStateException("keytool: " + said);
        }
        KeyStore store = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(identity.keyStore())) {
            store.load(in, PASSWORD.toCharArray());
        }
        writePem(identity.certificate(), "CERTIFICATE", store.getCertificate(name).getEncoded());
        writePem(identity.key(), "PRIVATE KEY", store.getKey(name, PASSWORD.toCharArray()).getEncoded());
        KeyStore trust = KeyStore.getInstance("PKCS12");
        trust.load(null, null);
        trust.setCertificateEntry(name, store.getCertificate(name));
        try (OutputStream out = Files.newOutputStream(identity.trustStore())) {
            trust.store(out, PASSWORD.toCharArray());
        }
        return identity;
    }

    private static void writePem(Path file, String kind, byte[] der) throws Exception {
        Files.writeString(file, "-----BEGIN " + kind + "-----\n" + Base64.getMimeEncoder().encodeToString(der)
                + "\n-----END " + kind + "-----\n");
    }

    Path certificate() {
        return dir.resolve(name + ".crt");
    }

    Path key() {
        return dir.resolve(name + ".key");
    }

    /** The key and the certificate. */
    Path keyStore() {
        return dir.resolve(name + ".p12");
    }

    /** The certificate alone, for clients that trust it. */
    Path trustStore() {
        return dir.resolve(name + "-trust.p12");
    }
}
