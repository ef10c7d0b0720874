//lint:file-ignore ST1005 the texts are redis-sentinel's

package sentinel

import (
	"errors"
	"fmt"
	"os"

	"github.com/lockredis/lockredis/resp"
)

var (
	errScripts       = errors.New("lockredis runs no scripts: subscribe to the events instead")
	errScriptsDenied = resp.Error("ERR Reconfiguration of scripts path is denied for security " +
		"reasons. Check the deny-scripts-reconfig configuration directive in your Sentinel " +
		"configuration")
)

// scripts are the options whose value is a script, and what errors call it.
var scripts = map[string]string{
	"notification-script":    "Notification script",
	"client-reconfig-script": "Client reconfiguration script",
}

// refuseScript returns why the script of an option is refused: Redis's reason, or that lockredis runs none.
func refuseScript(option, path string) error {
	if info, err := os.Stat(path); err != nil || info.Mode()&0o111 == 0 {
		return errors.New(scripts[option] + " seems non existing or non executable")
	}
	return errScripts
}

// loadScript returns the function of a line that names a script.
func loadScript(option string) func(*Sentinel, *master, []string) error {
	return func(_ *Sentinel, _ *master, w []string) error {
		return fmt.Errorf("%w.", refuseScript(option, w[0]))
	}
}
