package sentinel

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/command/commands"
	"github.com/lockredis/lockredis/internal/command/connection"
	"github.com/lockredis/lockredis/internal/command/server"
)

// shared are the commands that a Sentinel has in common with a server.
var shared = []string{"acl", "auth", "client", "command", "ping", "psubscribe", "punsubscribe",
	"shutdown", "subscribe", "unsubscribe"}

// Table returns the command table of a Sentinel.
func (s *Sentinel) Table() *command.Table {
	info := server.InfoOf("sentinel", server.InfoSection{
		Name: "sentinel", Title: "Sentinel", Lines: s.infoSection,
	})
	return commands.Pick(shared, map[string][]*command.Command{
		"connection": {commands.Row("hello", connection.HelloAs("sentinel"))},
		"pubsub":     {commands.Row("publish", s.with(publish))},
		"server":     {commands.Row("info", info), commands.Row("role", s.with(role))},
		"sentinel": {{Name: "sentinel", Arity: -2, Flags: command.Admin, Since: "2.8.4",
			Summary: "Groups the commands of a Sentinel.", Subs: s.subcommands()}},
	})
}

// subcommands returns the rows of SENTINEL.
func (s *Sentinel) subcommands() []*command.Command {
	rows := []struct {
		name, since, summary string
		arity                int
		run                  run
	}{
		{"ckquorum", "2.8.4", "Tells whether enough Sentinels are up for a failover.", 3, forMaster(checkQuorum)},
		{"config", "6.2.0", "Returns or changes a setting of the Sentinel.", -3, configure},
		{"debug", "7.0.0", "Returns or changes the times of the Sentinel, in milliseconds.", -2, debug},
		{"failover", "2.8.4", "Promotes a replica, without a vote.", 3, forMaster(forceFailover)},
		{"flushconfig", "2.8.4", "Writes the state into the configuration file.", 2, flushConfig},
		{"get-master-addr-by-name", "2.8.4", "Returns the address of a primary.", 3, masterAddr},
		{"info-cache", "3.2.0", "Returns the last INFO of primaries.", -3, infoCache},
		{"is-master-down-by-addr", "2.8.4", "Tells another Sentinel whether a primary is down, and votes.", 6, isMasterDown},
		{"master", "2.8.4", "Describes a primary.", 3, forMaster(describeMaster)},
		{"masters", "2.8.4", "Describes the monitored primaries.", 2, masters},
		{"monitor", "2.8.4", "Begins to monitor a primary.", 6, monitor},
		{"myid", "6.2.0", "Returns the id of the Sentinel.", 2, myid},
		{"pending-scripts", "2.8.4", "Returns no scripts: lockredis runs none.", 2, pendingScripts},
		{"remove", "2.8.4", "Ends the monitoring of a primary.", 3, forMaster(remove)},
		{"replicas", "5.0.0", "Describes the replicas of a primary.", 3, forMaster(replicas)},
		{"reset", "2.8.4", "Forgets what is known about the primaries that match a pattern.", 3, resetMasters},
		{"sentinels", "2.8.4", "Describes the other Sentinels of a primary.", 3, forMaster(sentinels)},
		{"set", "2.8.4", "Changes settings of a primary.", -5, setMaster},
		{"simulate-failure", "3.2.0", "Ends the Sentinel at a step of its next failover.", -3, simulateFailure},
		{"slaves", "2.8.0", "The older name of SENTINEL REPLICAS.", 3, forMaster(replicas)},
	}
	subs := []*command.Command{{Name: "sentinel|help", Arity: 2,
		Flags: command.Loading | command.Stale, Since: "6.2.0", Summary: "Lists the subcommands.",
		Run: command.Help}}
	for _, r := range rows {
		subs = append(subs, &command.Command{Name: "sentinel|" + r.name, Arity: r.arity,
			Flags: command.Admin, Since: r.since, Summary: r.summary, Run: s.with(r.run)})
	}
	return subs
}
