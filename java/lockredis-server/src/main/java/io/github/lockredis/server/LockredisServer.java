package io.github.lockredis.server;

import java.io.IOException;
import java.net.SocketTimeoutException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

/**
 * A lockredis server for tests: a Redis in a process of its own, in memory, on a free port of
 * 127.0.0.1. The process ends with {@link #close}, and in any case with this JVM, even if the JVM is
 * killed.
 *
 * <pre>{@code
 * try (LockredisServer server = LockredisServer.start()) {
 *     Config config = new Config();
 *     config.useSingleServer().setAddress(server.redissonAddress());
 *     ...
 *     server.assertNoLeaks();
 * }
 * }</pre>
 *
 * <p>With the system property {@code lockredis.uri}, or the variable LOCKREDIS_URI, no process
 * starts: all servers are the Redis at that URI. So the same tests run on a real Redis.
 *
 * <p>All methods may be called by several threads at once. They throw {@link LockredisException}
 * when the server does not run.
 */
public final class LockredisServer implements AutoCloseable {
    /** How long the server may take for a command of this class, in milliseconds. */
    static final int COMMAND_TIMEOUT = 10_000;

    /** The same for a turn of the clock, which may end a million leases. */
    static final int TURN_TIMEOUT = 120_000;

    /** The same for a snapshot, which may be large. */
    static final int LOAD_TIMEOUT = 120_000;

    /** How long await methods wait. */
    private static final Duration AWAIT = Duration.ofSeconds(10);

    private final LockredisConfig config;
    private final Endpoint attached; // null for a server of our own
    private final Processes processes; // null: attached
    private final LockredisServer first; // of the servers of the process; it closes all
    private final int index; // among them
    private volatile List<LockredisServer> group; // that tests are checked on: all for the first, else this one
    private volatile boolean closed;
    private final Known known = new Known();
    private final Pause pause = new Pause();
    private volatile boolean faulty; // a fault may be in effect that faults() has set
    private final AtomicReference<String> owner = new AtomicReference<>(); // of closeOnlyBy. Null: none

    private LockredisServer(LockredisConfig config, LineQueue consumer, Sentinels sentinels,
            Endpoint attached) {
        this.config = config;
        this.processes = attached != null ? null
                : new Processes(config, consumer, sentinels, pause);
        this.attached = attached;
        this.first = this;
        this.index = 0;
        this.group = Collections.singletonList(this);
    }

    /** Makes another server of the first one's process. */
    private LockredisServer(LockredisServer first, int index) {
        this.config = first.config;
        this.processes = first.processes;
        this.attached = null;
        this.first = first;
        this.index = index;
        this.group = Collections.singletonList(this);
        this.owner.set("the topology");
    }

    /**
     * Starts a server with the defaults: a free port, no password.
     *
     * @throws LockredisException if it does not start
     */
    public static LockredisServer start() {
        return builder().start();
    }

    /** Returns a builder for a server with other values than the defaults. */
    public static Builder builder() {
        return new Builder();
    }

    /**
     * Starts a server.
     *
     * @throws LockredisException if it does not start
     */
    public static LockredisServer start(LockredisConfig config) {
        return start(Objects.requireNonNull(config,
                "start(null): give a config, or call start() for the defaults"), null, null);
    }

    /** Starts a server that clients reach through three Sentinels. */
    public static LockredisTopology sentinel() {
        return LockredisTopology.builder(Topology.SENTINEL).start();
    }

    /** Starts a Redis Cluster of one node. */
    public static LockredisTopology cluster() {
        return LockredisTopology.builder(Topology.CLUSTER).start();
    }

    /** Starts a server and its Sentinels. Null: none. */
    static LockredisServer start(Builder from, Sentinels sentinels) {
        return start(from.config(), from.consumer == null ? null : new LineQueue(from.consumer),
                sentinels);
    }

    private static LockredisServer start(LockredisConfig config, LineQueue consumer,
            Sentinels sentinels) {
        String uri = Executables.setting("lockredis.uri");
        if (config.snapshot() != null && Launch.servers(config) > 1) {
            throw new LockredisException("snapshot \"" + config.snapshot() + "\": several servers cannot begin with one"
                    + " file. Use a topology of one server, or write the data in the test");
        }
        if (uri != null) {
            if (config.snapshot() != null) {
                throw new LockredisException("lockredis.uri: a real Redis cannot load the snapshot \""
                        + config.snapshot() + "\". Leave the test out where lockredis.uri is set");
            }
            LockredisServer server = new LockredisServer(config, consumer, null,
                    Endpoint.parse(uri));
            try {
                server.command("PING");
            } catch (LockredisException e) {
                throw new LockredisException("lockredis.uri: " + e.getMessage(), e);
            }
            return server;
        }
        ProcessClasses.load();
        LockredisServer server = new LockredisServer(config, consumer, sentinels, null);
        server.processes.start();
        int servers = server.processes.server().endpoints.size();
        if (servers > 1) {
            List<LockredisServer> all = new ArrayList<>(server.group);
            for (int i = 1; i < servers; i++) {
                all.add(new LockredisServer(server, i));
            }
            server.group = Collections.unmodifiableList(all);
        }
        return server;
    }

    /** Returns the servers that an adapter for tests looks after with this one: all of a topology for the first. */
    List<LockredisServer> group() {
        return group;
    }

    /** Ends the Sentinels, if there are any. */
    void closeSentinels() {
        closed = true;
        if (processes != null) {
            processes.closeSentinels();
        }
    }

    /** Returns the Sentinels' addresses as host:port, empty without Sentinels. */
    List<String> sentinelNodes() {
        return processes.sentinels();
    }

    /** Returns the values that the server was started with. */
    public LockredisConfig config() {
        return config;
    }

    /** Reports whether this is a running Redis, of lockredis.uri, and no process of its own. */
    public boolean isAttached() {
        return attached != null;
    }

    private Endpoint endpoint() {
        return attached != null ? attached : processes.server().endpoints.get(index);
    }

    /** Returns the host to connect to: 127.0.0.1. */
    public String host() {
        return endpoint().host;
    }

    /** Returns the port. It stays the same after {@link #restart}. */
    public int port() {
        return endpoint().port;
    }

    /** Returns the user name of lockredis.uri, or null: clients are the user "default". */
    public String username() {
        return endpoint().user;
    }

    /** Returns the password, or null. */
    public String password() {
        return endpoint().password;
    }

    /** Returns the number of the database that {@link #uri} names, and that commands here use. */
    public int database() {
        return endpoint().database;
    }

    /** Reports whether clients must use TLS. */
    public boolean isTls() {
        return endpoint().tls;
    }

    /** Returns the address with the password: redis://:secret@127.0.0.1:40123, or rediss://. */
    public String uri() {
        return endpoint().uri();
    }

    /**
     * Returns the address for a user of {@link Builder#user}: redis://app:secret@127.0.0.1:40123.
     */
    public String uri(String user, String password) {
        Objects.requireNonNull(user,
                "uri(null, …): give the name of a user, or call uri() for the user default");
        Objects.requireNonNull(password, "uri(…, null): give the user's password");
        Endpoint to = endpoint();
        return new Endpoint(to.host, to.port, user, password, to.database, to.tls, to.certificate).uri();
    }

    /**
     * Returns the address as Redisson's setAddress takes it, without user, password and database:
     * Redisson has setUsername, setPassword and setDatabase.
     */
    public String redissonAddress() {
        return endpoint().address();
    }

    /** Returns the version of lockredis, and of Redis where {@link #isAttached} is a real one. */
    public String version() {
        String own = info("lockredis_release");
        return own.isEmpty() ? redisVersion() : own;
    }

    /** Returns the version of Redis that the server tells its clients: 7.0.15. */
    public String redisVersion() {
        return info("redis_version");
    }

    private String info(String field) {
        for (String line : String.valueOf(command("INFO", "server")).split("\r\n")) {
            if (line.startsWith(field + ":")) {
                return line.substring(field.length() + 1);
            }
        }
        return "";
    }

    /** Returns the process id. -1: unknown. After a restart it is another one. */
    public long pid() {
        return attached != null ? -1 : processes.server().pid;
    }

    /** Returns the executable and its arguments, empty when attached. */
    List<String> commandLine() {
        return attached != null ? Collections.emptyList() : processes.server().command;
    }

    /**
     * Returns the last 200 lines of the server's log since its last start. The last 200 lines of its
     * Sentinels follow.
     */
    public List<String> log() {
        return attached != null ? Collections.emptyList() : processes.log();
    }

    /**
     * Returns all locks that are held or waited for: their holders and waiters. A real Redis (see {@link #isAttached})
     * does not record who acquired a lock, when, and by which command. So on it times and clients are unknown, locks
     * that SET made are not seen, and only the database of lockredis.uri is looked at.
     */
    public List<Lock> locks() {
        return locks("*");
    }

    /** Returns the locks whose names match a pattern, as in KEYS. */
    public List<Lock> locks(String pattern) {
        Objects.requireNonNull(pattern, "locks(null): give a pattern, or call locks() for all locks");
        return locks(pattern, attached != null ? timeout() : COMMAND_TIMEOUT);
    }

    /** Returns locks as {@link #locks(String)} does. The server has so many milliseconds for each answer. */
    List<Lock> locks(String pattern, int timeout) {
        try {
            return Lock.list(call(way(), timeout, "LOCK.LIST", pattern));
        } catch (Connection.ErrorReply e) {
            if (attached == null || !e.getMessage().contains("unknown command")) {
                throw failed(e, "LOCK.LIST");
            }
            return realLocks(pattern, timeout);
        } catch (IOException e) {
            throw failed(e, "LOCK.LIST");
        }
    }

    /** Reads the keys of a real Redis. */
    private List<Lock> realLocks(String pattern, int timeout) {
        try {
            List<Lock> locks = Lock.list(call(attached, timeout, "EVAL", RealLocks.SCRIPT, "0",
                    Integer.toString(attached.database)));
            DataKeys wanted = new DataKeys(pattern);
            locks.removeIf(lock -> !wanted.matches(lock.name()));
            return locks;
        } catch (IOException e) {
            throw failed(e, "locks: EVAL");
        }
    }

    /**
     * Returns the threads that wait for a lock of database 0: those that asked for it and were refused. First come the
     * threads in a fair lock's queue, the next one first; then the other threads in the order of their first asks; then
     * the clients of which only the subscription to the release is known, as for a semaphore and a latch.
     *
     * <p>A thread whose time is over does not tell the server. It stays while other threads of its client wait:
     * see {@link #probeWaiters(String)}.
     *
     * @throws UnsupportedOperationException on an attached Redis
     */
    public List<LockWaiter> waiters(String name) {
        Objects.requireNonNull(name, "waiters(null): give the name of a lock");
        requireOwn("waiters");
        return LockWaiter.list(kit("LOCK.WAITERS", name));
    }

    /**
     * Wakes the threads that wait for a lock of database 0, and returns those that ask for it again within 200 ms and are
     * refused. A free lock goes to one of them.
     *
     * @throws UnsupportedOperationException on an attached Redis
     */
    public List<LockWaiter> probeWaiters(String name) {
        Objects.requireNonNull(name, "probeWaiters(null): give the name of a lock");
        return probeWaiters(name, Duration.ofMillis(200));
    }

    /**
     * Does what {@link #probeWaiters(String)} does, and waits another time. It always waits that long.
     *
     * @throws IllegalArgumentException if the time is negative or more than an hour
     */
    public List<LockWaiter> probeWaiters(String name, Duration time) {
        Objects.requireNonNull(name, "probeWaiters(null, …): give the name of a lock");
        Objects.requireNonNull(time, "probeWaiters(…, null): give how long threads may take to ask");
        if (time.isNegative() || time.compareTo(Duration.ofHours(1)) > 0) {
            throw new IllegalArgumentException("probeWaiters " + time + " is not between 0 and an hour");
        }
        requireOwn("probeWaiters");
        long millis = time.toMillis();
        return LockWaiter.list(longKit((int) millis + COMMAND_TIMEOUT,
                "LOCK.WAITERS", name, "PROBE", "TIMEOUT", Long.toString(millis)));
    }

    /**
     * Returns what clients have left behind: locks, permits, waiters, subscriptions. A real Redis
     * (see {@link #isAttached}) cannot tell, so the list is empty then.
     */
    public List<Leak> leaks() {
        return leaks("LOCK.LEAKS");
    }

    /**
     * Returns the leaks, the subscriptions to channels of free locks, which are none, and the rows of
     * {@link History}.
     */
    List<Leak> allLeaks() {
        return leaks("LOCK.LEAKS", "ALL");
    }

    private List<Leak> leaks(String... command) {
        try {
            return leaksIn(send(command));
        } catch (Connection.ErrorReply e) {
            if (attached == null || !e.getMessage().contains("unknown command")) {
                throw failed(e, "LOCK.LEAKS");
            }
            return new ArrayList<>();
        } catch (IOException e) {
            throw failed(e, "LOCK.LEAKS");
        }
    }

    private static List<Leak> leaksIn(Object reply) {
        List<Leak> leaks = new ArrayList<>();
        Fields.list(reply).forEach(row -> leaks.add(new Leak(row)));
        return leaks;
    }

    /**
     * Fails when clients have left something behind. A leak may disappear within a second: clients
     * unsubscribe, and connections end, a moment later than their methods return.
     *
     * @throws AssertionError with a line for each of the first 20 leaks, as tests with {@code @Lockredis} fail
     */
    public void assertNoLeaks() {
        assertNoLeaks(new String[0]);
    }

    /**
     * Fails as {@link #assertNoLeaks()} does, except for keys that are data. They look like locks: a script or SET
     * with NX wrote them.
     *
     * @param dataKeys patterns as in KEYS
     */
    public void assertNoLeaks(String... dataKeys) {
        requireTexts("assertNoLeaks", "give patterns of keys", dataKeys);
        String text = LeakCheck.leaks(this, dataKeys);
        if (text != null) {
            throw new AssertionError(text);
        }
    }

    /** Deletes all data. Of an attached Redis only the database of lockredis.uri is emptied. */
    public void flush() {
        kit(attached == null ? "FLUSHALL" : "FLUSHDB");
    }

    /**
     * Deletes all data as {@link #flush} does, and loads the snapshot if there is one. Returns what {@link #allLeaks}
     * would have returned just before.
     */
    List<Leak> flushAndLook() {
        if (attached != null) {
            flush();
            return new ArrayList<>();
        }
        if (processes.snapshot() == null) {
            return leaksIn(kit("CONTROL", "FLUSH"));
        }
        try {
            return leaksIn(processes.snapshot().load(door()));
        } catch (IOException e) {
            throw failed(e, "CONTROL LOAD");
        }
    }

    /**
     * Remembers directives, users of ACL and functions: {@link #reset} puts them back. Does nothing on an attached
     * Redis.
     */
    void remember() {
        if (attached == null) {
            kit("CONTROL", "REMEMBER");
        }
    }

    /**
     * Puts directives, users of ACL and functions back as they were at the start, or when the running test began, and
     * ends a script that runs, a pause of clients and all faults. Directives that client libraries set once stay:
     * notify-keyspace-events. Does nothing on an attached Redis. A test with an annotation or a rule need not call it:
     * it happens at the test's end.
     */
    public void reset() {
        if (attached == null) {
            kit("CONTROL", "RESET");
            pause.end();
            faulty = false;
        }
    }

    /**
     * Returns the server's clock.
     *
     * @throws UnsupportedOperationException on an attached Redis
     */
    public ServerClock clock() {
        requireOwn("clock");
        return new ServerClock(Collections.singletonList(this));
    }

    /**
     * Returns the server's faults: they make requests, replies and messages go wrong on purpose.
     *
     * @throws UnsupportedOperationException on an attached Redis
     */
    public Faults faults() {
        requireOwn("faults");
        return new Faults(this);
    }

    /**
     * Returns how often clients have sent each command since the running test began, by the name in lower case. A
     * subcommand's name is "client|list". A command that was never sent is missing. Refused commands count, and so do
     * those of {@link #command}. The commands of a script, and those that EXEC runs, do not: EVALSHA, EXEC and the
     * queued commands count as they are sent. Nor does what this library sends by itself.
     *
     * <p>The modules for JUnit and Spring, and {@link EndWatch}, begin a test: what {@code @BeforeAll} has sent does not
     * count then. Of tests that run side by side the first one begins the count. Without them it begins at the
     * server's start. A restart begins it, too.
     *
     * @return a copy in the order of the names, which later commands do not change
     * @throws UnsupportedOperationException on an attached Redis
     */
    public Map<String, Long> commandCounts() {
        requireOwn("commandCounts");
        Map<String, Long> counts = new TreeMap<>();
        List<?> pairs = (List<?>) kit("CONTROL", "COUNTS");
        for (int i = 0; i + 1 < pairs.size(); i += 2) {
            counts.put((String) pairs.get(i), (Long) pairs.get(i + 1));
        }
        return counts;
    }

    /** Notes that clients of the topology have lost their connections, or may lose them now. */
    void noteOutage() {
        first.group.forEach(each -> each.known.outage());
    }

    /** Notes that a fault is set now. */
    void noteFault() {
        faulty = true;
        noteOutage();
    }

    /** Ends the faults that {@link #faults} has set, and those of other clients with them. */
    void endFaults() {
        if (faulty) {
            faults().clear();
            faulty = false;
        }
    }

    /**
     * Ends the lease of a lock's holders now, as if its time were over, and tells the waiters that the lock is free.
     * It is what a holder's crash leads to in the end. The lock is one of database 0.
     *
     * @return the owners whose lease has ended, as {@link Lock} has them; of a semaphore the permits. Empty: the lock is
     *     free
     * @throws UnsupportedOperationException on an attached Redis
     */
    public List<String> endLease(String name) {
        Objects.requireNonNull(name, "endLease(null): give the name of a lock");
        requireOwn("endLease");
        return new Fields(longKit(COMMAND_TIMEOUT, "LOCK.END", name)).texts("ended");
    }

    /**
     * Waits until a lock, or a permit of a semaphore, is held: ten seconds at most. The lock is one of database 0.
     *
     * @throws AssertionError if it is free for all that time
     * @throws LockredisException if the thread is interrupted. It stays interrupted
     * @throws UnsupportedOperationException on an attached Redis
     */
    public void awaitHeld(String name) {
        await("awaitHeld", AWAIT, name, "HELD");
    }

    /** Waits until a lock is free, as {@link #awaitHeld} does. */
    public void awaitFree(String name) {
        await("awaitFree", AWAIT, name, "FREE");
    }

    /**
     * Waits until so many threads or more wait for a lock, as {@link #awaitHeld} does. 0: until none waits. A thread of
     * Redisson counts when it was refused a second time: it sleeps, or is about to. A client of which only a
     * subscription is known counts once, as for a semaphore and a latch.
     */
    public void awaitWaiters(String name, int waiters) {
        if (waiters < 0) {
            throw new IllegalArgumentException("awaitWaiters " + waiters + " is negative");
        }
        await("awaitWaiters", AWAIT, name, "WAITERS", Integer.toString(waiters));
    }

    void await(String method, Duration time, String name, String... state) {
        Objects.requireNonNull(name, method + "(null): give the name of a lock");
        requireOwn(method);
        List<String> command = new ArrayList<>(Arrays.asList("LOCK.AWAIT", name));
        command.addAll(Arrays.asList(state));
        command.addAll(Arrays.asList("TIMEOUT", Long.toString(time.toMillis())));
        Object reply = awaitKit(method + " " + Text.printable(name), (int) time.toMillis() + COMMAND_TIMEOUT, command.toArray(new String[0]));
        if (reply == null) {
            throw new AssertionError(Text.printable(name) + " on " + redissonAddress() + " is not " + String.join(" ", state)
                    + " within " + time.toMillis() + " ms: " + locks(name));
        }
    }

    /** Closes the connections of all clients. They may connect again. Returns their number. */
    public int killClients() {
        noteOutage();
        Object normal = kit("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
        Object subscribers = kit("CLIENT", "KILL", "TYPE", "pubsub", "SKIPME", "yes");
        return ((Long) normal).intValue() + ((Long) subscribers).intValue();
    }

    /**
     * Lets all clients wait for their replies, as a server does that hangs. Of this object's methods only
     * {@link #command} waits too. {@link #unpauseClients} ends the pause early.
     *
     * @throws IllegalArgumentException if the time is negative or more than 365 days
     */
    public void pauseClients(Duration time) {
        Objects.requireNonNull(time, "pauseClients(null): give how long clients wait");
        pause("pauseClients", time, "ALL");
    }

    /**
     * Lets clients wait that write: all locks do. {@link #locks}, {@link #leaks} and commands that
     * only read get their replies. {@link #unpauseClients} ends the pause early.
     *
     * @throws IllegalArgumentException if the time is negative or more than 365 days
     */
    public void pauseWrites(Duration time) {
        Objects.requireNonNull(time, "pauseWrites(null): give how long clients wait");
        pause("pauseWrites", time, "WRITE");
    }

    private void pause(String method, Duration time, String mode) {
        Pause.check(method, time);
        String[] command = {"CLIENT", "PAUSE", Long.toString(time.toMillis()), mode};
        kit(command);
        pause.note(command);
    }

    /** Returns the pause that a command of this object has begun. */
    Pause pause() {
        return pause;
    }

    /**
     * Ends {@link #pauseClients} and {@link #pauseWrites}.
     */
    public void unpauseClients() {
        kit("CLIENT", "UNPAUSE");
        pause.end();
    }

    /**
     * Sends a command and returns its reply: a String, a Long, a List of such values, or null.
     *
     * @throws IllegalArgumentException for a command that only changes its connection, such as SELECT, MULTI
     *     or SUBSCRIBE: each call has a connection of its own
     * @throws LockredisException with the server's text if the reply is an error
     */
    public Object command(String... command) {
        requireTexts("command", "give the command's words, each as a text", command);
        if (command.length == 0) {
            throw new IllegalArgumentException("command has no words");
        }
        OwnConnection.check(command);
        try {
            Object reply = call(endpoint(), timeout(), command);
            pause.note(command);
            return reply;
        } catch (IOException e) {
            throw failed(e, command);
        }
    }

    /** Fails if a method has got null in place of texts, or as one of them. */
    static void requireTexts(String method, String advice, String... texts) {
        Objects.requireNonNull(texts, method + "(null): " + advice);
        for (int i = 0; i < texts.length; i++) {
            if (texts[i] == null) {
                throw new NullPointerException(method + "(…, null): text " + (i + 1) + " of "
                        + texts.length + " is null: " + advice);
            }
        }
    }

    /**
     * Sends a command of this library's own, and returns its reply as {@link #command} does. Nothing that a
     * test does to the server's clients holds it up: it has a way of its own, unless the server is attached.
     */
    Object kit(String... command) {
        try {
            return send(command);
        } catch (IOException e) {
            throw failed(e, command);
        }
    }

    /** Is {@link #kit} for a command that may take so many milliseconds. It needs a server of our own. */
    Object longKit(int timeout, String... command) {
        requireOwn(command[0]);
        try {
            return call(door(), timeout, command);
        } catch (IOException e) {
            throw failed(e, command);
        }
    }

    /** Is {@link #longKit} for a command that waits in the server. An interrupt of the thread ends it. */
    private Object awaitKit(String what, int timeout, String... command) {
        try {
            return call(door(), timeout, connection -> connection.callInterruptibly(command), command);
        } catch (Connection.Interrupted e) {
            throw new LockredisException(what + ": " + e.getMessage(), e);
        } catch (IOException e) {
            throw failed(e, command);
        }
    }

    private Object send(String... command) throws IOException {
        return call(way(), attached != null ? timeout() : COMMAND_TIMEOUT, command);
    }

    private Endpoint door() {
        return processes.server().doors.get(index);
    }

    /** Returns the way in for commands of this library's own. */
    private Endpoint way() {
        return attached != null ? attached : door();
    }

    private Object call(Endpoint to, int timeout, String... command) throws IOException {
        return call(to, timeout, connection -> connection.call(command), command);
    }

    /** Is a way to send a command. */
    private interface Sending {
        Object by(Connection connection) throws IOException;
    }

    private Object call(Endpoint to, int timeout, Sending sending, String... command) throws IOException {
        ServerProcess running = attached != null ? null : processes.server();
        if (isClosed() || running != null && !running.isServing()) {
            throw new LockredisException("lockredis at " + redissonAddress() + " "
                    + (isClosed() ? "is closed" : running.describeEnd()));
        }
        if (running != null && running.stopped.contains(index)) {
            throw new LockredisException("lockredis at " + redissonAddress() + " is stopped");
        }
        try (Connection connection = new Connection(to, timeout)) {
            return sending.by(connection);
        } catch (Connection.ErrorReply | Connection.Interrupted | SocketTimeoutException e) {
            throw e;
        } catch (IOException e) {
            if (running != null && (running.hasSeveral() ? running.ends() : !running.hasFaults() && running.awaitEnd())) {
                throw new LockredisException(command[0] + " on " + redissonAddress() + ": the server "
                        + running.describeEnd(), e);
            }
            throw e;
        }
    }

    /** Returns how long the server may take for a command now, in milliseconds. */
    private int timeout() {
        return (int) Math.min(COMMAND_TIMEOUT + pause.left().toMillis(), Integer.MAX_VALUE);
    }

    private LockredisException failed(IOException e, String... command) {
        String reason = e instanceof Connection.ErrorReply ? e.getMessage() : e.toString();
        return new LockredisException(command[0] + " on " + redissonAddress() + ": " + reason, e);
    }

    /**
     * Stops the server, as an outage. Its data is gone, for it is in memory only. Does nothing when
     * the server is stopped. Of a topology with several servers the others run on, and the port stays open: a
     * connection to it is closed at once.
     *
     * @throws UnsupportedOperationException on an attached Redis
     */
    public void stop() {
        requireOwn("stop");
        noteOutage();
        processes.stop(index);
    }

    /**
     * Starts the server again on the same port, empty or with its snapshot. Stops it first if it runs. Sentinels that
     * have ended start again too, on their ports. It works on an interrupted thread too.
     *
     * @throws UnsupportedOperationException on an attached Redis
     * @throws LockredisException if it does not start: another process may have taken the port
     */
    public void restart() {
        requireOwn("restart");
        noteOutage();
        Interrupts.run(() -> processes.restart(index));
        pause.end();
    }

    /** Returns the processes. Null: attached. */
    Processes processes() {
        return processes;
    }

    /** Returns what outlives a test. */
    Known known() {
        return known;
    }

    boolean isClosed() {
        return first.closed;
    }

    private void requireOwn(String what) {
        if (attached != null) {
            throw new UnsupportedOperationException(what + ": the server of lockredis.uri is not ours");
        }
    }

    /** Reports whether the server runs, and its Sentinels do. An attached Redis is asked. */
    public boolean isRunning() {
        if (isClosed() || attached == null) {
            return !isClosed() && processes.isRunning(index);
        }
        try {
            send("PING");
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    /**
     * Returns the text about ends of the server's process that neither {@link #stop}, {@link #restart}
     * nor {@link #close} has caused since the last call: the exit code, and the end of the log. The
     * process of the Sentinels counts too. A server that does not answer as before has a text as well: it
     * hangs, or its password is another one. Null if there were none, and on an attached Redis.
     *
     * <p>The modules for JUnit and Spring call it at the end of each test, and fail the test with the
     * text. It asks the server, so an end counts that was begun just before. A restart does not delete the
     * text. A process that dies while this method runs may count at the next call only. It works on an
     * interrupted thread too.
     */
    public String unexpectedEnd() {
        return attached != null ? null : Interrupts.get(processes::unexpectedEnd);
    }

    /**
     * Refuses {@link #close} from now on, and returns the one call that does it in its place. An adapter for
     * a test framework shares the server among tests, and a test that closes it would fail the others.
     *
     * @param owner what closes the server, for the exception's text: JUnit
     * @throws IllegalArgumentException if the owner is empty or blank
     * @throws IllegalStateException if the server has an owner already
     */
    public Runnable closeOnlyBy(String owner) {
        own(owner);
        return this::end;
    }

    /** Sets what closes the server. */
    void own(String owner) {
        String advice = "give the name of what closes the server";
        Objects.requireNonNull(owner, "closeOnlyBy(null): " + advice);
        if (owner.trim().isEmpty()) {
            throw new IllegalArgumentException("closeOnlyBy(\"" + owner + "\"): " + advice + ", such as JUnit");
        }
        if (!this.owner.compareAndSet(null, owner)) {
            throw new IllegalStateException("closeOnlyBy(\"" + owner + "\"): the server is closed by "
                    + this.owner.get());
        }
    }

    /** Fails if the server has an owner. */
    void requireNoOwner() {
        if (owner.get() != null) {
            throw new IllegalStateException("close: a test must not close lockredis at " + redissonAddress()
                    + ": " + owner.get() + " does. For an outage call stop()");
        }
    }

    /**
     * Stops the server for good. An attached Redis runs on. Does nothing the second time.
     *
     * @throws IllegalStateException after {@link #closeOnlyBy}: the server that an annotation or a rule has
     *     started is not the test's to close
     */
    @Override
    public void close() {
        requireNoOwner();
        end();
    }

    /** Stops the server for good. */
    void end() {
        closed = true;
        if (attached == null) {
            processes.close();
        }
    }

    @Override
    public String toString() {
        return "lockredis at " + redissonAddress() + (isRunning() ? "" : ", stopped");
    }

    /** Collects the values for a server. It may be used for several ones, by one thread. */
    public static final class Builder {
        int port;
        String password;
        Path certificate;
        Path privateKey;
        Path configFile;
        Path executable;
        String snapshot;
        Duration startTimeout = Duration.ofSeconds(30);
        final List<List<String>> directives = new ArrayList<>();
        private Consumer<String> consumer;

        private Builder() {
        }

        /** Sets the port. The default, 0, means a free one: choose a port only if you must. */
        public Builder port(int port) {
            if (port < 0 || port > 65535) {
                throw new IllegalArgumentException("port " + port + " is not in 0 to 65535");
            }
            this.port = port;
            return this;
        }

        /**
         * Sets the password that clients must give.
         *
         * @throws IllegalArgumentException if it has more than 16384 bytes in UTF-8: no client can send it
         */
        public Builder password(String password) {
            Objects.requireNonNull(password,
                    "password(null): give a password, or leave the call out: clients need none then");
            this.password = LockredisConfig.requireShort("password", password);
            return this;
        }

        /**
         * Adds a user with the rules of ACL SETUSER: {@code user("app", "on", ">secret",
         * "~orders:*", "~redisson_*", "&redisson_*", "+@all")}. A rule may have spaces, as
         * {@code "(+get ~other)"} has. The user default stays: this class and {@link LockredisServer#uri()} use it,
         * and {@link #password} is its password.
         *
         * @throws IllegalArgumentException if the name is empty, has white space or is "default"
         */
        public Builder user(String name, String... rules) {
            Objects.requireNonNull(name, "user(null, …): give the name of a user");
            requireTexts("user", "give rules of ACL SETUSER", rules);
            if (!name.matches("[^\\s\\x00]+")) {
                throw new IllegalArgumentException("\"" + name + "\" is not the name of a user");
            }
            if (name.equals("default")) {
                throw new IllegalArgumentException("the user default is this class's own: "
                        + "password(text) sets its password");
            }
            List<String> values = new ArrayList<>();
            values.add(name);
            values.addAll(Arrays.asList(rules));
            return directive("user", values.toArray(new String[0]));
        }

        /**
         * Lets the server speak TLS, and nothing else. Clients need no certificate.
         *
         * @param certificate the server's certificate, a PEM file
         * @param privateKey its key, a PEM file
         */
        public Builder tls(Path certificate, Path privateKey) {
            this.certificate = Objects.requireNonNull(certificate, "tls(null, …): give the file of the"
                    + " server's certificate, or leave the call out: clients use no TLS then");
            this.privateKey = Objects.requireNonNull(privateKey,
                    "tls(…, null): give the file of the certificate's private key");
            return this;
        }

        /**
         * Sets the number of databases. The default is 16.
         *
         * @throws IllegalArgumentException if it is not in 1 to a million
         */
        public Builder databases(int databases) {
            if (databases < 1 || databases > 1_000_000) {
                throw new IllegalArgumentException("databases " + databases + " is not in 1 to 1000000");
            }
            return directive("databases", Integer.toString(databases));
        }

        /** Adds a directive of redis.conf. The server checks it, and refuses what it cannot do. */
        public Builder directive(String name, String... values) {
            Objects.requireNonNull(name, "directive(null, …): give the name of a directive");
            requireTexts("directive", "give the values of " + name + ", each as a text", values);
            if (!name.matches("[A-Za-z0-9_-]+")) {
                throw new IllegalArgumentException("\"" + name + "\" is not the name of a directive");
            }
            if (name.equalsIgnoreCase("port") && values.length == 1 && values[0].matches("\\d{1,5}")) {
                return port(Integer.parseInt(values[0]));
            }
            List<String> directive = new ArrayList<>();
            directive.add(name);
            directive.addAll(Arrays.asList(values));
            directives.add(Collections.unmodifiableList(directive));
            return this;
        }

        /**
         * Adds directives as lines of a redis.conf: {@code "maxmemory 10mb"}. Words with spaces are
         * in single or double quotes. A text of several lines is several directives; lines that are
         * empty or begin with # are ignored.
         */
        public Builder directives(String... lines) {
            requireTexts("directives", "give lines of a redis.conf", lines);
            for (String text : lines) {
                for (String line : text.trim().split("\\s*\n\\s*")) {
                    if (line.isEmpty() || line.startsWith("#")) {
                        continue;
                    }
                    List<String> words = Words.of(line);
                    directive(words.get(0), words.subList(1, words.size()).toArray(new String[0]));
                }
            }
            return this;
        }

        /**
         * Starts the server with a redis.conf, production's own if you like. The builder's values win
         * over those of the file. What binds the file to its machine is not used: port, tls-port, bind,
         * unixsocket, daemonize, supervised, syslog-enabled, pidfile, port-file, logfile, dir,
         * dbfilename, save and replicaof. A {@link #directive} sets them again. Files that it includes
         * are used as they are.
         */
        public Builder configFile(Path file) {
            this.configFile = Objects.requireNonNull(file,
                    "configFile(null): give the path of a redis.conf, or leave the call out");
            return this;
        }

        /**
         * Lets the server begin with the data of an RDB file, in place of no data: at each start, and where an
         * annotation or a rule would delete all data before a test. Keys whose deadlines are over are left out. The
         * start fails if there is no such file, if the server cannot load it, or if there are several servers.
         * {@link LockredisServer#flush} deletes this data too.
         *
         * @param name a resource of the class path, or else the path of a file
         * @throws IllegalArgumentException if the name is empty
         */
        public Builder snapshot(String name) {
            String advice = "give the name of a resource or a file, or leave the call out for a server without data";
            Objects.requireNonNull(name, "snapshot(null): " + advice);
            if (name.isEmpty()) {
                throw new IllegalArgumentException("snapshot(\"\"): " + advice);
            }
            this.snapshot = name;
            return this;
        }

        /**
         * Passes each line of the server's log to a consumer, in place of the JVM's log. A thread of
         * its own calls the consumer. Behind one that blocks, 10,000 lines wait; then the oldest are
         * dropped, and a line says how many. What the consumer throws is ignored.
         */
        public Builder logConsumer(Consumer<String> consumer) {
            this.consumer = Objects.requireNonNull(consumer, "logConsumer(null): give a"
                    + " function for the lines, or leave the call out: the log of the JVM gets them then");
            return this;
        }

        /** Starts this executable, in place of the one on the class path. */
        public Builder executable(Path file) {
            this.executable = Objects.requireNonNull(file, "executable(null): give the path of"
                    + " an executable, or leave the call out for the one on the class path");
            return this;
        }

        /**
         * Sets how long a start may take. The default is 30 seconds.
         *
         * @throws IllegalArgumentException if the time is zero, negative or more than a day
         */
        public Builder startTimeout(Duration timeout) {
            Objects.requireNonNull(timeout,
                    "startTimeout(null): give a time, or leave the call out for 30 seconds");
            if (timeout.isZero() || timeout.isNegative()
                    || timeout.compareTo(Duration.ofDays(1)) > 0) {
                throw new IllegalArgumentException("startTimeout " + timeout
                        + " must be more than zero and at most a day");
            }
            this.startTimeout = timeout;
            return this;
        }

        /** Returns the values collected so far. The log consumer is not a part of them. */
        public LockredisConfig config() {
            return new LockredisConfig(this);
        }

        /**
         * Starts a server.
         *
         * @throws LockredisException if it does not start
         */
        public LockredisServer start() {
            return LockredisServer.start(this, null);
        }
    }
}
