package io.github.lockredis.server;

import java.util.Locale;

/** The operating system and the processor that an executable is for. */
final class Platform {
    /** The name of the folder with the executable: {@code linux-amd64}. */
    final String name;

    private Platform(String name) {
        this.name = name;
    }

    /** Returns the platform of this JVM. */
    static Platform current() {
        return of(System.getProperty("os.name", ""), System.getProperty("os.arch", ""));
    }

    /**
     * Returns the platform that two system properties of a JVM name. An amd64 JVM on Apple silicon
     * gets amd64: macOS runs the executable as it runs the JVM.
     */
    static Platform of(String osName, String osArch) {
        return new Platform(system(osName) + "-" + processor(osArch));
    }

    boolean isWindows() {
        return name.startsWith("windows-");
    }

    boolean isMac() {
        return name.startsWith("darwin-");
    }

    private static String system(String osName) {
        String os = osName.toLowerCase(Locale.ROOT);
        if (os.startsWith("windows")) {
            return "windows";
        }
        if (os.startsWith("mac") || os.startsWith("darwin")) {
            return "darwin";
        }
        return Text.plain(os, "", "");
    }

    private static String processor(String osArch) {
        String arch = Text.plain(osArch.toLowerCase(Locale.ROOT), "", "");
        switch (arch) {
            case "amd64":
            case "x8664":
            case "x64":
                return "amd64";
            case "aarch64":
            case "arm64":
                return "arm64";
            default:
                return arch;
        }
    }

    @Override
    public String toString() {
        return name;
    }
}
