import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.zip.CRC32;

/**
 * Checks that each executable is for the system and the processor that its folder names, and writes
 * lockredis.properties beside it. lockredis-server reads that file before it unpacks the executable.
 *
 * <p>Run by binaries/build: {@code java Describe.java VERSION OUTDIR [OS-ARCH ...]}
 */
class Describe {
    static final List<String> ALL = List.of("linux-amd64", "linux-arm64", "darwin-amd64",
            "darwin-arm64", "windows-amd64", "windows-arm64");

    public static void main(String[] args) throws Exception {
        List<String> platforms = args.length > 2 ? Arrays.asList(args).subList(2, args.length) : ALL;
        for (String platform : platforms) {
            Path folder = Path.of(args[1], platform);
            String name = platform.startsWith("windows-") ? "lockredis.exe" : "lockredis";
            byte[] executable = Files.readAllBytes(folder.resolve(name));
            String found = platformOf(executable);
            if (!found.equals(platform)) {
                throw new IOException(folder.resolve(name) + " is an executable for " + found);
            }
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(executable);
            CRC32 crc = new CRC32();
            crc.update(executable);
            // Not Properties.store: it writes the time of day.
            String properties = "version=" + args[0]
                    + "\nplatform=" + platform
                    + "\nfile=" + name
                    + "\nsize=" + executable.length
                    + "\nsha256=" + HexFormat.of().formatHex(hash)
                    + "\ncrc32=" + Long.toHexString(crc.getValue()) + "\n";
            Files.write(folder.resolve("lockredis.properties"),
                    properties.getBytes(StandardCharsets.ISO_8859_1));
        }
    }

    /** Returns the platform that the header of an ELF, Mach-O or PE file names. */
    static String platformOf(byte[] executable) {
        ByteBuffer file = ByteBuffer.wrap(executable).order(ByteOrder.LITTLE_ENDIAN);
        if (file.getInt(0) == 0x464c457f) { // ELF; e_machine is at 18
            return "linux-" + machine(file.getShort(18), 0x3e, 0xb7);
        }
        if (file.getInt(0) == 0xfeedfacf) { // Mach-O of 64 bits; cputype is at 4
            return "darwin-" + machine(file.getInt(4), 0x01000007, 0x0100000c);
        }
        if (file.getShort(0) == 0x5a4d) { // MZ; the PE header's place is at 60
            int header = file.getInt(60);
            if (file.getInt(header) == 0x4550) {
                return "windows-" + machine(file.getShort(header + 4) & 0xffff, 0x8664, 0xaa64);
            }
        }
        return "no known system";
    }

    static String machine(int value, int amd64, int arm64) {
        return value == amd64 ? "amd64" : value == arm64 ? "arm64" : "machine 0x" + Integer.toHexString(value);
    }
}
