package command

import (
	"os"
	"strings"

	"github.com/lockredis/lockredis/internal/acl"
	"github.com/lockredis/lockredis/internal/config"
)

// LogRefusal adds an entry to ACL LOG. object is the refused command, key or channel, or
// the command of a failed login. user is the user's name.
func (c *Ctx) LogRefusal(reason acl.Reason, object, user string) {
	context := acl.TopLevel
	switch {
	case c.InScript():
		context = acl.InLua
	case c.From == FromExec || c.Session.Multi != nil:
		context = acl.InMulti
	}
	c.ACLLog.Add(acl.Entry{
		Reason: reason, Context: context, Object: strings.Clone(object), User: user,
		Client: c.ClientLine(c.Session), At: c.Now(),
	}, c.Config.ACLLogMax)
}

// LoadACLFile replaces the users by the users in the file of the directive aclfile. It returns the users
// that are gone. After an error nothing has changed.
func LoadACLFile(cfg *config.Config, users *acl.Users) (gone []*acl.User, err error) {
	text, err := os.ReadFile(cfg.Path(cfg.ACLFile))
	if err != nil {
		return nil, acl.LoadError(
			"Error loading ACLs, opening file '" + cfg.ACLFile + "': " + config.SystemText(err))
	}
	return users.Load(cfg.ACLFile, string(text))
}
