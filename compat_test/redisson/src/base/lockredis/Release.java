package lockredis;

import org.junit.jupiter.api.Assumptions;

/** The release under test. Its own faults, seen on Redis too, are skipped by name; expected-skips.txt holds the list. */
final class Release {
    private Release() {
    }

    /** Skips the test from the release first to the release last, both included. */
    static void skip(String first, String last, String fault) {
        String release = System.getProperty("redisson.version", "");
        boolean hit = number(first) <= number(release) && number(release) <= number(last);
        Assumptions.assumeFalse(hit, "Redisson " + release + " " + fault);
    }

    private static long number(String release) {
        long n = 0;
        for (String part : release.split("\\.")) {
            n = n * 1_000 + Long.parseLong(part);
        }
        return n;
    }
}
