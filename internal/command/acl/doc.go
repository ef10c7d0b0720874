// Package acl holds the ACL commands: users, their rules and passwords, the ACL file, ACL LOG.
// The users are in internal/acl. How a command line looks to their rules is a matter of its row:
// see Command.ACLLine in internal/command.
package acl
