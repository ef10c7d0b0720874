package io.github.lockredis.server;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;

/**
 * Makes requests, replies and messages of a server go wrong on purpose. The order in which the server receives
 * requests decides what a fault hits: nothing is left to chance.
 *
 * <p>A fault is in effect until its {@link Fault#close}, {@link #clear}, or the end of the test, with the modules for
 * JUnit and Spring and with {@link LeakCheck}. Several faults can be in effect. Of those that fit, the one that was
 * set first hits. Two faults can hit one request: one before it runs (loseRequest, holdRequest, failRequest,
 * endLease, stop), and one of its reply (loseReply, mute, delayReply, duplicateReply).
 *
 * <p>Times are of the machine's clock: {@link ServerClock} does not shorten them. They are 1 ms to 365 days; parts of
 * a millisecond are cut off. Each method that sets a fault throws IllegalArgumentException for an argument that no
 * fault can have, before it sets anything.
 */
public final class Faults {
    private final LockredisServer server;

    Faults(LockredisServer server) {
        this.server = server;
    }

    /** Runs the command, and closes its connection in place of the reply. The client can't tell whether it ran. */
    public Fault loseReply(Match match) {
        return add("loseReply", "lose-reply", requests("loseReply(null)", match));
    }

    /** Closes the connection in place of running the command. To the client it looks like {@link #loseReply}. */
    public Fault loseRequest(Match match) {
        return add("loseRequest", "lose-request", requests("loseRequest(null)", match));
    }

    /**
     * Replies an error in place of running the command.
     *
     * @param error the whole reply in one line, with its code: OOM command not allowed
     * @throws IllegalArgumentException also if the error is empty, has several lines or more than 4096 bytes
     */
    public Fault failRequest(Match match, String error) {
        List<String> words = requests("failRequest(null, …)", match);
        Objects.requireNonNull(error, "failRequest(…, null): give the error that is the reply");
        if (FaultOptions.requireText("failRequest", error).matches("(?s).*[\r\n].*")) {
            throw new IllegalArgumentException("failRequest: the error has more than one line");
        }
        return add("failRequest", "fail-request", words, "ERROR", error);
    }

    /**
     * Holds the request back until {@link Fault#release}, as a network that loses a packet and sends it again later.
     * Later requests of the connection stay behind it. It runs then even if the client has left. A blocking command
     * begins to wait when it is let go.
     */
    public Fault holdRequest(Match match) {
        return add("holdRequest", "hold-request", requests("holdRequest(null)", match));
    }

    /** Holds the request back for a time, or until {@link Fault#release}. */
    public Fault holdRequest(Match match, Duration time) {
        List<String> words = requests("holdRequest(null, …)", match);
        return add("holdRequest", "hold-request", words, "FOR", FaultOptions.millis("holdRequest", time));
    }

    /**
     * Runs the command, and holds its reply back until {@link Fault#release}. Later output of the connection stays
     * behind it.
     */
    public Fault delayReply(Match match) {
        return add("delayReply", "delay-reply", requests("delayReply(null)", match));
    }

    /** Runs the command, and holds its reply back for a time, or until {@link Fault#release}. */
    public Fault delayReply(Match match, Duration time) {
        List<String> words = requests("delayReply(null, …)", match);
        return add("delayReply", "delay-reply", words, "FOR", FaultOptions.millis("delayReply", time));
    }

    /** Sends the reply twice. A client that does not check takes the second one for the reply to its next command. */
    public Fault duplicateReply(Match match) {
        return add("duplicateReply", "duplicate-reply", requests("duplicateReply(null)", match));
    }

    /**
     * Runs the command. From its reply on, the connection sends nothing more. It stays open, and its commands run. The
     * fault's end does not end that, only the connection's.
     */
    public Fault mute(Match match) {
        return add("mute", "mute", requests("mute(null)", match));
    }

    /**
     * Ends the lease of the command's first key just before the command runs, as its expiry does: the key is gone for
     * all owners. In scripts of locks that key is the lock. Only a request whose first key has a time to live fits.
     */
    public Fault endLease(Match match) {
        return add("endLease", "end-lease", requests("endLease(null)", match));
    }

    /**
     * Stops the server for a time, as SIGSTOP does, from the next request on. Connections stay open, clients can open
     * new ones, and nothing is answered. All requests wait, and run when the time is over; leases end meanwhile.
     * {@link Fault#release} and {@link Fault#close} end the stop before. Of this library's methods only
     * {@link LockredisServer#command} waits.
     */
    public Fault stop(Duration time) {
        Objects.requireNonNull(time, "stop(null): give a time");
        return stop(new Match(), time);
    }

    /** Stops the server for a time, as {@link #stop(Duration)} does, from the request on that fits. */
    public Fault stop(Match match, Duration time) {
        List<String> words = requests("stop(null, …)", match);
        return add("stop", "stop", words, "FOR", FaultOptions.millis("stop", time));
    }

    /** Loses a message between the server and a subscriber. PUBLISH counts the subscriber nevertheless. */
    public Fault dropMessage(MessageMatch match) {
        return add("dropMessage", "drop-message", messages("dropMessage(null)", match));
    }

    /** Holds a message back until {@link Fault#release}. Later output of the subscriber stays behind it. */
    public Fault delayMessage(MessageMatch match) {
        return add("delayMessage", "delay-message", messages("delayMessage(null)", match));
    }

    /** Holds a message back for a time, or until {@link Fault#release}. */
    public Fault delayMessage(MessageMatch match, Duration time) {
        List<String> words = messages("delayMessage(null, …)", match);
        return add("delayMessage", "delay-message", words, "FOR", FaultOptions.millis("delayMessage", time));
    }

    /**
     * Closes connections, as a network does that resets them, and returns how many. Replies that the clients have not
     * read are lost, and so are requests that a fault holds back. Clients may connect again.
     */
    public int cut(Connections which) {
        return reach("cut", which);
    }

    /**
     * Sends nothing more on connections, as a network does that loses all packets to the client and resets nothing.
     * Returns how many connections. They stay open, and their commands run. New connections work. Only a
     * connection's end ends its silence.
     */
    public int silence(Connections which) {
        return reach("silence", which);
    }

    private int reach(String method, Connections which) {
        Objects.requireNonNull(which, method + "(null): give the connections. new Connections() selects all");
        server.noteOutage();
        return ((Long) server.kit(which.command(method.toUpperCase(Locale.ROOT)))).intValue();
    }

    /**
     * Returns the faults in effect, in the order in which they were set, also those that FAULT.ADD of another client
     * has set. A fault that has hit as often as it can is in effect until it is closed.
     */
    public List<Fault> list() {
        List<Fault> faults = new ArrayList<>();
        ServerProcess process = server.processes().server();
        for (Fields row : Fields.list(server.kit("FAULT.LIST"))) {
            faults.add(new Fault(server, process, row.number("id"), row.text("kind"), conditions(row)));
        }
        return faults;
    }

    /** Ends all faults, and lets go what they hold back. Returns how many there were. */
    public int clear() {
        return ((Long) server.kit("FAULT.CLEAR")).intValue();
    }

    private static List<String> requests(String call, Match match) {
        return Objects.requireNonNull(match, call + ": give the requests to hit. new Match() fits all").words();
    }

    private static List<String> messages(String call, MessageMatch match) {
        return Objects.requireNonNull(match, call + ": give the messages to hit. new MessageMatch() fits all").words();
    }

    private Fault add(String method, String kind, List<String> conditions, String... options) {
        List<String> command = new ArrayList<>();
        command.add("FAULT.ADD");
        command.add(kind);
        command.addAll(conditions);
        for (String option : options) {
            command.add(option);
        }
        ServerProcess process = server.processes().server();
        long id;
        try {
            server.noteFault();
            id = (Long) server.kit(command.toArray(new String[0]));
        } catch (LockredisException e) {
            throw refused(e, method, conditions);
        }
        return new Fault(server, process, id, kind, command.subList(2, command.size()));
    }

    /** Returns what to throw for an error of FAULT.ADD. The server knows the commands, and this library does not. */
    private static RuntimeException refused(LockredisException e, String method, List<String> conditions) {
        String reply = e.getCause() instanceof Connection.ErrorReply ? e.getCause().getMessage() : "";
        int name = conditions.indexOf("COMMAND") + 1;
        boolean named = name > 0 && (reply.equals("ERR unknown command '" + conditions.get(name) + "'")
                || reply.startsWith("ERR no fault hits '"));
        return named ? new IllegalArgumentException(method + ": " + reply.substring("ERR ".length()), e) : e;
    }

    /** Returns the conditions of a row of FAULT.LIST, as FAULT.ADD has them. */
    private static List<String> conditions(Fields row) {
        FaultOptions options = new FaultOptions();
        for (String name : new String[] {"command", "key", "client", "script", "channel", "error"}) {
            if (!row.text(name).isEmpty()) {
                options.set(name.toUpperCase(Locale.ROOT), row.text(name));
            }
        }
        if (!row.text("contains").isEmpty()) {
            options.set("SCRIPT", "CONTAINS", row.text("contains"));
        }
        if (row.number("nth") > 1) {
            options.set("NTH", row.text("nth"));
        }
        if (row.number("times") != 1) {
            options.set("TIMES", row.number("times") < 0 ? "ALWAYS" : row.text("times"));
        }
        if (row.number("for") > 0) {
            options.set("FOR", row.text("for"));
        }
        return options.words();
    }
}
