package command

import "github.com/lockredis/lockredis/internal/acl"

// The tests of this package that need the table of all commands are in command_test. They see
// these as well.

const (
	Absent           = absent
	AbsentCategories = absentCategories
)

func Lower(c byte) byte { return lower(c) }

func (t *Table) ByName() map[string]*Command { return t.byName }

func (t *Table) AbsentNames() map[string]bool { return t.absent }

// ACL returns the command in the catalog of its table.
func (cmd *Command) ACL() *acl.Command { return cmd.acl }
