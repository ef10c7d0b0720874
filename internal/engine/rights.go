package engine

import (
	"errors"
	"log/slog"
	"strings"

	"github.com/lockredis/lockredis/internal/acl"
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/config"
	"github.com/lockredis/lockredis/resp"
)

// openUsers makes the default user, and follows the directives about users.
func openUsers(env *command.Env, cfg *config.Config) {
	users := acl.NewUsers(env.Table.ACLCatalog())
	env.Users = users
	password := cfg.RequirePass
	follow := func() {
		users.OpenChannels = cfg.OpenChannels
		if cfg.RequirePass != password {
			password = cfg.RequirePass
			users.SetDefaultPassword(password)
		}
	}
	cfg.OnChange(config.UsersChange, func() error { follow(); return nil })
	users.OpenChannels = cfg.OpenChannels
	users.SetDefaultPassword(password)
	cfg.UserState = func() (lines [][]string) {
		if cfg.ACLFile != "" {
			return nil
		}
		for _, line := range users.Lines() {
			lines = append(lines, strings.Split(strings.TrimPrefix(line, "user "), " "))
		}
		return lines
	}
}

// errTwoSources is the error of a configuration with users in two places.
//
//lint:ignore ST1005 the text is Redis's
var errTwoSources = errors.New("Configuring Redis with users defined in redis.conf and at the " +
	"same setting an ACL file path is invalid. This setup is very likely to lead to " +
	"configuration errors and security holes, please define either an ACL file or declare " +
	"users directly in your redis.conf, but not both.")

// LoadUsers makes the users of the configuration: of the user lines or of the ACL file. It is
// called before Start. The error names the line that failed.
func (e *Engine) LoadUsers() error {
	cfg := e.env.Config
	if cfg.ACLFile == "" {
		return defineUsers(e.env.Users, cfg.Users, e.log)
	}
	if len(cfg.Users) > 0 {
		return errTwoSources
	}
	if _, err := command.LoadACLFile(cfg, e.env.Users); err != nil {
		return err
	}
	return nil
}

// defineUsers carries out user lines.
func defineUsers(users *acl.Users, lines []config.UserLine, log *slog.Logger) error {
	defined := map[string]bool{}
	for _, line := range lines {
		switch {
		case defined[line.Name]:
			return line.Errorf("Error in user declaration '%s': %v", line.Name, acl.ErrDuplicate)
		case !acl.ValidName(line.Name):
			return line.Errorf("Spaces not allowed in ACL usernames")
		}
		defined[line.Name] = true
		var bad *acl.RuleError
		if err := users.Define(line.Name, line.Rules); errors.As(err, &bad) {
			return line.Errorf("Error in user declaration '%s': %v", bad.Shown(), bad.Err)
		}
		if users.Get(line.Name).Disabled() {
			log.Info("a user is disabled: there is no 'on' among its rules", "user", line.Name)
		}
	}
	return nil
}

// forbidden reports whether the user's rights do not allow a command. The refusal is an
// entry of ACL LOG then, and the reply. The user is restricted.
func (k *checks) forbidden(c *command.Ctx, args resp.Args) (refusal resp.Reply, is bool) {
	user := c.Session.User
	c.Cmd.FillACLLine(&k.line, args)
	reason, at := user.Check(&k.line)
	k.line.Args = nil // so that it does not keep the connection's buffer
	if reason == acl.Allowed {
		return refusal, false
	}
	object := c.Cmd.Name
	if reason != acl.NoCommand {
		object = args.String(at)
	}
	c.LogRefusal(reason, object, user.Name)
	switch c.From {
	case command.FromScript:
		return scriptRefusals[reason], true
	case command.FromExec:
		return queuedRefusals[reason], true
	}
	return errForbidden(reason, c.Cmd.Name), true
}

// errForbidden is the reply to a client's command that its rights do not allow.
func errForbidden(reason acl.Reason, name string) resp.Reply {
	switch reason {
	case acl.NoKey:
		return errNoKey
	case acl.NoChannel:
		return errNoChannel
	}
	return resp.Errorf("NOPERM this user has no permissions to run the '%s' command", name)
}

var (
	errNoKey = resp.Error("NOPERM this user has no permissions to access one of the keys " +
		"used as arguments")
	errNoChannel = resp.Error("NOPERM this user has no permissions to access one of the channels " +
		"used as arguments")
)

// scriptRefusals are the errors of redis.call.
var scriptRefusals = [...]resp.Reply{
	acl.NoCommand: resp.Error("ERR The user executing the script " +
		"can't run this command or subcommand"),
	acl.NoKey: resp.Error("ERR The user executing the script can't access at least one of " +
		"the keys mentioned in the command arguments"),
	acl.NoChannel: resp.Error("ERR The user executing the script can't publish " +
		"to the channel mentioned in the command"),
}

const rulesChanged = "NOPERM ACLs rules changed between the moment the transaction was " +
	"accumulated and the EXEC call. This command is no longer allowed for the following reason: "

// queuedRefusals are the replies to queued commands.
var queuedRefusals = [...]resp.Reply{
	acl.NoCommand: resp.Error(rulesChanged + "no permission to execute the command or subcommand"),
	acl.NoKey:     resp.Error(rulesChanged + "no permission to touch the specified keys"),
	acl.NoChannel: resp.Error(rulesChanged + "no permission to access one of the channels used as arguments"),
}
