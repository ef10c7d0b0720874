package config

// Change names a part of the server that acts when CONFIG SET changes a
// directive. A row of the table names its parts, and the owner of a part
// registers a hook with OnChange. Values can be combined with |.
type Change uint16

// The parts that act on changes.
const (
	StoreChange      Change = 1 << iota // limits of compact encodings, classes of key events, eviction
	IdleChange                          // how long an idle client stays connected
	LogLevelChange                      // the least level that is logged
	MaxClientsChange                    // the number of files that the process needs
	TLSChange                           // certificates, keys, versions, ciphers, sessions
	ClusterChange                       // whether a cluster without all slots serves commands, and what a node announces
	SlowlogChange                       // the length of SLOWLOG, and whether it takes commands
	UsersChange                         // the default user's password, the channels of new users
	MemoryChange                        // the limit of memory
	OutputChange                        // how much unread output a client may have
	RefusalChange                       // whether writes are refused
	LatencyChange                       // how long an event of LATENCY must be
	BacklogChange                       // how much of the stream is kept for replicas
	SaveChange                          // where the RDB file is, and when it is written
)

// hook is a function that OnChange has registered.
type hook struct {
	of    Change
	apply func() error
}

// OnChange registers a hook: CONFIG SET calls apply after it has changed a
// directive whose row names one of the parts in of. All fields of Config have
// their new values by then. Hooks run in the order of registration, each at most
// once for a CONFIG SET. An error of apply undoes the whole CONFIG SET.
//
// OnChange is called before the server starts.
func (c *Config) OnChange(of Change, apply func() error) {
	c.hooks = append(c.hooks, hook{of, apply})
}

// runHooks runs the hooks of the directives that CONFIG SET has changed. After
// an error it undoes all changes and runs the hooks that succeeded again, so that
// they see the old values.
func (c *Config) runHooks(changes []change) error {
	var succeeded []hook
	ran := make([]bool, len(c.hooks))
	for _, ch := range changes {
		for i, h := range c.hooks {
			if ran[i] || !ch.changed || h.of&ch.change == 0 {
				continue
			}
			if err := h.apply(); err != nil {
				c.undo(changes)
				for _, h := range succeeded {
					_ = h.apply() // the old values were in force before
				}
				return setError(ch.name, err)
			}
			ran[i] = true
			succeeded = append(succeeded, h)
		}
	}
	return nil
}
