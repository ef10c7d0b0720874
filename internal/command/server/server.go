package server

import (
	"math"
	"strconv"
	"strings"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/config"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

var (
	errFirstDB    = resp.Error("ERR invalid first DB index")
	errSecondDB   = resp.Error("ERR invalid second DB index")
	errNoShutdown = resp.Error("ERR No shutdown in progress.")
	errShutdown   = resp.Error("ERR Errors trying to SHUTDOWN. Check logs.")
)

func dbsize(c *command.Ctx, _ resp.Args) resp.Reply { return resp.Int(int64(c.DB.Len())) }

// timeCmd reads the clock, as in Redis 7.0. The unit's own time stands still, so that no key
// expires halfway through a script. With TIME a script can measure how long it runs. In Valkey
// TIME stands still, too.
func timeCmd(c *command.Ctx, _ resp.Args) resp.Reply {
	micros := c.Micros
	if !c.Config.Valkey() {
		micros = c.Clock.Now().UnixMicro()
	}
	return resp.Array(resp.BulkInt(micros/1e6), resp.BulkInt(micros%1e6))
}

func role(c *command.Ctx, _ resp.Args) resp.Reply {
	status := c.Replicas.Status()
	if p := status.Primary; p != nil {
		if !p.Up {
			p.Offset = -1
		}
		return resp.Array(resp.BulkString("slave"), resp.BulkString(p.Host), resp.Int(int64(p.Port)),
			resp.BulkString(p.State), resp.Int(p.Offset))
	}
	replicas := []resp.Reply{}
	for _, s := range status.Replicas {
		if s.Replica.State == command.Online {
			replicas = append(replicas, resp.Array(resp.BulkString(s.ReplicaIP()),
				resp.BulkString(strconv.Itoa(s.Replica.Port)), resp.BulkString(strconv.FormatInt(s.Replica.Acked, 10))))
		}
	}
	return resp.Array(resp.BulkString("master"), resp.Int(status.Offset), resp.Array(replicas...))
}

// flushTracking forgets the keys that clients cache.
//
// Differs from Redis: there the nodes of the radix tree of these keys decide whether they count.
// The tree has at least as many nodes as keys.
func flushTracking(c *command.Ctx, lazily bool) {
	if lazily {
		n := c.Tracking.Counts().Keys
		c.Space.CountLazyFreed(n, n)
	}
	c.Tracking.Flushed()
}

// flushKeys empties db and counts its keys.
func flushKeys(c *command.Ctx, db *store.DB, lazily bool) {
	keys := db.Flush()
	c.ChangeOther("flush", int64(keys))
	if lazily {
		c.Space.Stats.LazyFreed += int64(keys)
	}
}

func flushdb(c *command.Ctx, args resp.Args) resp.Reply {
	lazily, ok := command.FlushOption(c, args[1:])
	if !ok {
		return resp.ErrSyntax
	}
	flushTracking(c, lazily)
	flushKeys(c, c.DB, lazily)
	return resp.OK
}

func flushall(c *command.Ctx, args resp.Args) resp.Reply {
	lazily, ok := command.FlushOption(c, args[1:])
	if !ok {
		return resp.ErrSyntax
	}
	flushTracking(c, lazily)
	for _, db := range c.Space.Opened() {
		flushKeys(c, db, lazily)
	}
	c.Saving.Flushed()
	return resp.OK
}

func swapdb(c *command.Ctx, args resp.Args) resp.Reply {
	if c.Cluster != nil {
		return errClusterSwapdb
	}
	first, ok := resp.ParseInt(args[1])
	if !ok || first < math.MinInt32 || first > math.MaxInt32 {
		return errFirstDB
	}
	second, ok := resp.ParseInt(args[2])
	if !ok || second < math.MinInt32 || second > math.MaxInt32 {
		return errSecondDB
	}
	if n := int64(c.Space.Len()); min(first, second) < 0 || max(first, second) >= n {
		return resp.ErrDBIndex
	}
	own := c.DB.ID()
	c.Space.Swap(int(first), int(second))
	c.Select(own)
	c.ChangeOther("swapdb", 1)
	return resp.OK
}

var errSaveRunning = resp.Error("ERR Background save already in progress")

// recordSave resets the number of unsaved changes and sets the time of the last save. It is
// the save of a server without a file.
func recordSave(c *command.Ctx) {
	c.Dirty = 0
	c.LastSave = c.Now() / 1000
}

// save writes the file while other clients continue, and replies when it is written.
//
// Differs from Redis: there all clients wait.
func save(c *command.Ctx, _ resp.Args) resp.Reply {
	switch {
	case !c.Config.HasFile():
		recordSave(c)
		return resp.OK
	case c.DenyBlocking():
		if c.Saving.Now() != nil {
			return command.ErrSaveFailed
		}
		return resp.OK
	case c.Saving.Stats().Running && c.Saving.Stats().InBackground:
		return errSaveRunning
	}
	c.Saving.Park(c)
	return resp.NoReply
}

func bgsave(c *command.Ctx, args resp.Args) resp.Reply {
	if len(args) > 2 || len(args) == 2 && !command.IsWord(args[1], "schedule") {
		return resp.ErrSyntax
	}
	switch {
	case !c.Config.HasFile():
		recordSave(c)
	case c.Saving.Stats().Running:
		return errSaveRunning
	case c.From == command.FromExec:
		c.Saving.Schedule()
	default:
		c.Saving.Begin()
	}
	return resp.Status("Background saving " + startedOrScheduled(c))
}

func bgrewriteaof(c *command.Ctx, _ resp.Args) resp.Reply {
	when := startedOrScheduled(c)
	if c.Config.HasFile() && c.Saving.Stats().InBackground {
		when = "scheduled" // Redis waits for the end of the save
	}
	return resp.Status("Background append only file rewriting " + when)
}

// startedOrScheduled says when what c's command asks for begins: after an EXEC, if it is in one.
func startedOrScheduled(c *command.Ctx) string {
	if c.From == command.FromExec {
		return "scheduled"
	}
	return "started"
}

func lastsave(c *command.Ctx, _ resp.Args) resp.Reply { return resp.Int(c.LastSaved()) }

// shutdown stops the server. It saves the data first, if SAVE or save points ask for that. If
// the save fails, the server runs on.
func shutdown(c *command.Ctx, args resp.Args) resp.Reply {
	var save, nosave, abort, now, force bool
	for _, a := range args[1:] {
		switch {
		case command.IsWord(a, "save"):
			save = true
		case command.IsWord(a, "nosave"):
			nosave = true
		case command.IsWord(a, "now"):
			now = true
		case command.IsWord(a, "force"):
			force = true
		case command.IsWord(a, "abort"):
			abort = true
		default:
			return resp.ErrSyntax
		}
	}
	if save && nosave || abort && (save || nosave || now || force) {
		return resp.ErrSyntax
	}
	refusal, busy := c.Script.Busy()
	if abort {
		if busy && c.Saving.Abort() { // only a script keeps a shutdown waiting
			return resp.OK
		}
		return errNoShutdown
	}
	if busy && !nosave {
		return refusal
	}
	c.Server.Log("warning", "User requested shutdown...")
	_, loading := c.Saving.Loading()
	switch {
	case loading: // as in Redis nothing is saved: the databases have a part of the keys
	case (save || len(c.Config.RDB.Points) > 0 && !nosave) && c.Config.HasFile():
		c.Server.Log("warning", "Saving the final RDB snapshot before exiting.")
		if c.Saving.Last() != nil && !force {
			c.Server.Log("warning", "Error trying to save the DB, can't exit.")
			return errShutdown
		}
	case !busy:
		c.Saving.LastAsked()
	}
	c.Server.Shutdown()
	c.Session.Move(command.Closing)
	return resp.NoReply
}

// lolwut draws a padlock; with VERSION n it draws n of them in a row, at most 8.
func lolwut(_ *command.Ctx, args resp.Args) resp.Reply {
	locks := 1
	if len(args) > 2 && command.IsWord(args[1], "version") {
		n, ok := resp.ParseInt(args[2])
		if !ok {
			return resp.ErrNotInt
		}
		locks = int(min(max(n, 1), 8))
	}
	var art strings.Builder
	for _, row := range []string{
		"   .--.   ",
		"  /    \\  ",
		"  |    |  ",
		" _|____|_ ",
		"|   __   |",
		"|  (__)  |",
		"|   ||   |",
		"|________|",
	} {
		art.WriteString(strings.TrimRight(strings.Repeat(row+"  ", locks), " ") + "\n")
	}
	art.WriteString("\nHeld by nobody. Redis ver. " + config.RedisVersion +
		", lockredis ver. " + config.Version + "\n")
	return resp.Verbatim(art.String())
}

func configGet(c *command.Ctx, args resp.Args) resp.Reply {
	patterns := make([]string, 0, len(args)-2)
	for i := range args[2:] {
		patterns = append(patterns, args.String(i+2))
	}
	var reply []resp.Reply
	for _, p := range c.Config.Match(patterns, command.GlobFold) {
		reply = append(reply, resp.BulkString(p.Name), resp.BulkString(listening(c, p)))
	}
	return resp.Map(reply...)
}

// listening returns the value of a directive. In place of "port auto" it is the port that was free.
func listening(c *command.Ctx, p config.Pair) string {
	switch name := strings.ToLower(p.Name); {
	case name == "port" && c.Config.PortAuto:
		return strconv.Itoa(c.Server.Identity().Port)
	case name == "tls-port" && c.Config.TLS.PortAuto:
		return strconv.Itoa(c.Server.Identity().TLSPort)
	}
	return p.Value
}

func configSet(c *command.Ctx, args resp.Args) resp.Reply {
	if len(args)%2 != 0 {
		return resp.ErrSyntax
	}
	var pairs []config.Pair
	var loading resp.Reply
	refused := false
	for i := 2; i < len(args); i += 2 {
		pairs = append(pairs, config.Pair{Name: args.String(i), Value: args.String(i + 1)})
		if c.Config.Secret(args.String(i)) {
			c.Hide(i + 1)
		}
		if refusal, is := loadingRefuses(c, args.String(i)); is {
			loading, refused = refusal, true
		}
	}
	if refused {
		return loading
	}
	if err := c.Config.Set(pairs, c.Config.ProtectedConfigs.Allows(c.Session.Local())); err != nil {
		return resp.Error("ERR " + err.Error())
	}
	return resp.OK
}

// loadingRefuses reports whether the directive may not change while a file is loaded.
func loadingRefuses(c *command.Ctx, name string) (refusal resp.Reply, is bool) {
	if !strings.EqualFold(name, "appendonly") {
		return refusal, false
	}
	refusal, is = c.Saving.Loading()
	if p := c.Replicas.Status().Primary; p != nil && p.Load != command.NoLoad {
		is = true
	}
	return refusal, is
}

func configResetstat(c *command.Ctx, _ resp.Args) resp.Reply {
	command.ResetStats(c.Env)
	return resp.OK
}

func configRewrite(c *command.Ctx, _ resp.Args) resp.Reply {
	if err := c.Config.Rewrite(); err != nil {
		return resp.Error("ERR " + err.Error())
	}
	return resp.OK
}

// human formats a number of bytes as INFO does, for example 1.50K.
func human(bytes int64) string {
	f := float64(bytes)
	switch {
	case bytes < 1<<10:
		return strconv.FormatInt(bytes, 10) + "B"
	case bytes < 1<<20:
		return strconv.FormatFloat(f/(1<<10), 'f', 2, 64) + "K"
	case bytes < 1<<30:
		return strconv.FormatFloat(f/(1<<20), 'f', 2, 64) + "M"
	case bytes < 1<<40:
		return strconv.FormatFloat(f/(1<<30), 'f', 2, 64) + "G"
	}
	return strconv.FormatFloat(f/(1<<40), 'f', 2, 64) + "T"
}

var errClusterSwapdb = resp.Error("ERR SWAPDB is not allowed in cluster mode")
