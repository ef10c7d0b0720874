package clients;

/** Runs the checks of all clients on the server at a port, or of the clients that are named. */
public final class Main {
  interface Suite {
    void run(int port) throws Exception;
  }

  public static void main(String[] args) throws Exception {
    int port = Integer.parseInt(args[0]);
    String only = args.length > 1 ? args[1] : "";
    one(only, "jedis", JedisSuite::run, port);
    one(only, "lettuce", LettuceSuite::run, port);
    one(only, "spring", SpringSuite::run, port);
    one(only, "shedlock", ShedLockSuite::run, port);
    one(only, "redisson", RedissonSuite::run, port);
    one(only, "micronaut", MicronautSuite::run, port);
    System.exit(0);
  }

  private static void one(String only, String name, Suite suite, int port) {
    if (!only.isEmpty() && !only.equals(name)) {
      return;
    }
    try {
      suite.run(port);
    } catch (Throwable failure) {
      failure.printStackTrace();
      System.exit(1);
    }
  }
}
