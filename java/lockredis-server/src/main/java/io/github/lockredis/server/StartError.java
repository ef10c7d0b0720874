package io.github.lockredis.server;

import java.util.List;
import java.util.regex.Pattern;

/** What the errors of a start mean. */
enum StartError {
    /** Text file busy: another thread forked while this JVM wrote the executable. */
    BUSY("error[=:] ?26\\b"),
    /** Permission denied; on Windows access is denied. */
    DENIED("error[=:] ?(13|5)\\b");

    private final Pattern pattern;

    StartError(String pattern) {
        this.pattern = Pattern.compile(pattern);
    }

    /** Reports whether the message of ProcessBuilder's exception has this error. */
    boolean matches(String message) {
        return pattern.matcher(message).find();
    }

    /** Returns the message with what a user can do about it. */
    static String hint(String message) {
        if (!DENIED.matches(message)) {
            return message;
        }
        if (Platform.current().isWindows()) {
            return message + " (an antivirus program may block it)";
        }
        return message + " (the file is not executable, or its file system is mounted with noexec)";
    }

    /** Returns the server's own words on why it ended, from its output. */
    static String reason(List<String> lines) {
        for (int i = 0; i < lines.size(); i++) {
            if (lines.get(i).startsWith("*** FATAL CONFIG FILE ERROR")) {
                return String.join(" ", lines.subList(i, lines.size()));
            }
        }
        for (int i = lines.size() - 1; i >= 0; i--) {
            if (!lines.get(i).trim().isEmpty()) {
                return lines.get(i);
            }
        }
        return "";
    }

    /**
     * Returns a sentence to append to the reason, or "".
     *
     * @param code the process's exit code, null for a process that ran on
     * @param portHint what to do when another process has the port
     */
    static String advice(String reason, Integer code, String portHint) {
        if (reason.contains("address already in use")
                || reason.contains("Only one usage of each socket address")) {
            return portHint.isEmpty() ? "" : ". " + portHint;
        }
        if (code != null && code == 137 && Platform.current().isMac()) {
            return ". macOS ends an executable whose signature it does not accept: "
                    + "see codesign --verify --verbose FILE";
        }
        return "";
    }
}
