package lockredis;

import org.junit.jupiter.api.Assumptions;

/**
 * The release under test. Tests of its own faults, which it has on Redis too, are skipped by
 * name; expected-skips.txt has the list.
 */
final class Release {
    private Release() {
    }

    /** Skips the test for the releases from first to last, both included. */
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
