package program

import (
	"fmt"
	"log/slog"
	"strconv"

	"github.com/lockredis/lockredis/internal/config"
)

// ownFiles is the number of open files that Redis reserves for other uses than
// clients.
const ownFiles = 32

// fitClients limits maxclients to what the limit of open files allows, now and
// at each CONFIG SET. That limit belongs to the process, so the program sets
// it and not the server, which may be a part of another program.
func fitClients(set *config.Config, log *slog.Logger) error {
	wanted := set.MaxClients
	files := raiseFileLimit(uint64(wanted) + ownFiles)
	if files <= ownFiles {
		return fmt.Errorf("the limit of %d open files ('ulimit -n') is not enough: "+
			"at least %d are needed", files, uint64(wanted)+ownFiles)
	}
	if clients := int64(files) - ownFiles; clients < int64(wanted) {
		log.Warn("maxclients has been reduced: the limit of open files ('ulimit -n') is too low",
			"wanted", wanted, "maxclients", clients, "files", files)
		if err := set.Load("maxclients", strconv.FormatInt(clients, 10)); err != nil {
			return err
		}
	}
	set.OnChange(config.MaxClientsChange, func() error {
		files := raiseFileLimit(uint64(set.MaxClients) + ownFiles)
		if clients := int64(files) - ownFiles; clients < int64(set.MaxClients) {
			//lint:ignore ST1005 the text is protocol
			return fmt.Errorf("The operating system is not able to handle "+
				"the specified number of clients, try with %d", clients)
		}
		return nil
	})
	return nil
}
