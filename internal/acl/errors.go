package acl

// Error is why a rule is refused. Its text is Redis's.
type Error string

// Error returns the text.
func (e Error) Error() string { return string(e) }

// The errors of rules.
const (
	ErrUnknown  = Error("Unknown command or category name in ACL")
	ErrSyntax   = Error("Syntax error")
	ErrFirstArg = Error("Allowing first-arg of a subcommand is not supported")
	ErrAllKeys  = Error("Adding a pattern after the * pattern (or the 'allkeys' flag) " +
		"is not valid and does not have any effect. " +
		"Try 'resetkeys' to start with an empty list of patterns")
	ErrAllChannels = Error("Adding a pattern after the * pattern (or the 'allchannels' flag) " +
		"is not valid and does not have any effect. " +
		"Try 'resetchannels' to start with an empty list of channels")
	ErrNoPassword = Error("The password you are trying to remove from the user does not exist")
	ErrHash       = Error("The password hash must be exactly 64 characters " +
		"and contain only lowercase hexadecimal characters")
	ErrDuplicate = Error("Duplicate user found. A user can only be defined once in config files")
)
