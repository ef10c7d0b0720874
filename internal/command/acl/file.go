package acl

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/config"
	"github.com/lockredis/lockredis/resp"
)

var (
	errNoACLFile = resp.Error("ERR This Redis instance is not configured to use an ACL file. " +
		"You may want to specify users via the ACL SETUSER command and then issue a " +
		"CONFIG REWRITE (assuming you have a Redis configuration file set) " +
		"in order to store users in the Redis configuration.")
	errACLSave = resp.Error("ERR There was an error trying to save the ACLs. " +
		"Please check the server logs for more information")
)

func aclLoad(c *command.Ctx, _ resp.Args) resp.Reply {
	if c.Config.ACLFile == "" {
		return errNoACLFile
	}
	gone, err := command.LoadACLFile(c.Config, c.Users)
	if err != nil {
		return resp.Error("ERR " + err.Error())
	}
	for _, user := range gone {
		cutUser(c, user)
	}
	return resp.OK
}

func aclSave(c *command.Ctx, _ resp.Args) resp.Reply {
	if c.Config.ACLFile == "" {
		return errNoACLFile
	}
	if err := config.ReplaceFile(c.Config.Path(c.Config.ACLFile), c.Users.File()); err != nil {
		c.Server.Log("warning", "ACL SAVE failed: "+err.Error())
		return errACLSave
	}
	return resp.OK
}
