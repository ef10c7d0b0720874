package program

import (
	"errors"
	"os"
	"sync"

	"github.com/lockredis/lockredis/internal/config"
)

// watchParent returns a channel that is closed when the parent process ends, or the process that
// the directive exit-with-parent names. It returns nil without the directive.
//
// A launcher names itself. It may be killed before this process asks for its parent: the parent
// is then process 1, which never ends. And a script may stand between the two.
func watchParent(set *config.Config) (<-chan struct{}, error) {
	if !set.ExitWithParent {
		return nil, nil
	}
	parent := os.Getppid()
	if parent == 0 {
		return nil, errors.New("the parent process is outside of this container")
	}
	ended := make(chan struct{})
	end := sync.OnceFunc(func() { close(ended) })
	if err := watchProcess(parent, end); err != nil {
		return nil, err
	}
	if os.Getppid() != parent { // it ended before it was watched: its id may be another process's
		end()
	}
	if set.ParentPID == 0 || set.ParentPID == parent {
		return ended, nil
	}
	return ended, watchProcess(set.ParentPID, end)
}
