package clients;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Runs checks of one library and prints a line for each. See ../README.md. */
final class Checks {
  /** A check that waits for a reply that never comes ends after this time. */
  private static final Duration LIMIT = Duration.ofSeconds(20);

  interface Body {
    void run() throws Throwable;
  }

  private final String client;
  private final String version;

  /** The version is that of the client's jar in the class path. */
  Checks(String client) {
    this.client = client;
    Matcher jar = Pattern.compile("[/\\\\]" + Pattern.quote(client) + "-(\\d[^/\\\\]*)\\.jar")
        .matcher(System.getProperty("java.class.path"));
    if (!jar.find()) {
      throw new IllegalStateException("no jar of " + client + " in the class path");
    }
    this.version = jar.group(1);
  }

  void check(String name, Body body) {
    CompletableFuture<Void> done = new CompletableFuture<>();
    Thread thread = new Thread(() -> {
      try {
        body.run();
        done.complete(null);
      } catch (Throwable failure) {
        done.completeExceptionally(failure);
      }
    }, name);
    thread.setDaemon(true);
    thread.start();
    String outcome = "ok";
    String reason = "";
    try {
      done.get(LIMIT.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException late) {
      outcome = "FAIL";
      reason = "\tnot done within " + LIMIT.toSeconds() + " s";
    } catch (ExecutionException failed) {
      outcome = "FAIL";
      reason = "\t" + describe(failed.getCause());
    } catch (InterruptedException interrupted) {
      throw new IllegalStateException(interrupted);
    }
    System.out.println(client + "\t" + version + "\t" + outcome + "\t" + name + reason);
  }

  private static String describe(Throwable failure) {
    if (System.getenv("LOCKREDIS_CLIENTS_DEBUG") != null) {
      failure.printStackTrace();
    }
    StringBuilder text = new StringBuilder();
    for (Throwable one = failure; one != null; one = one.getCause()) {
      text.append(one.getClass().getSimpleName()).append(": ").append(one.getMessage()).append(" ");
    }
    return text.toString().replaceAll("\\s+", " ").trim();
  }

  static void equal(Object want, Object got) {
    if (!Objects.deepEquals(want, got)) {
      throw new AssertionError("want " + want + ", got " + got);
    }
  }

  static void yes(boolean condition, Object about) {
    if (!condition) {
      throw new AssertionError(String.valueOf(about));
    }
  }

  /** Expects a failure whose message, or that of a cause, has the text. */
  static void fails(String text, Body body) {
    try {
      body.run();
    } catch (Throwable failure) {
      for (Throwable one = failure; one != null; one = one.getCause()) {
        if (String.valueOf(one.getMessage()).contains(text)) {
          return;
        }
      }
      throw new AssertionError("another failure: " + failure, failure);
    }
    throw new AssertionError("no failure, want " + text);
  }

  /** Waits for a condition. The limit of its check ends a wait that is in vain. */
  static void until(Callable<Boolean> condition) throws Exception {
    while (!condition.call()) {
      Thread.sleep(5);
    }
  }
}
