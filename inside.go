package lockredis

import (
	"github.com/lockredis/lockredis/internal/backdoor"
	"github.com/lockredis/lockredis/internal/config"
)

// Other packages of this module cannot reach unexported fields, and exported methods would
// show internal types to every user. So the ways in are registered with an internal package.
func init() {
	backdoor.Open = func(server any) backdoor.Inside {
		core := server.(*Server).core
		engine := core.Engine()
		return backdoor.Inside{
			Inspector:        engine.Inspector(),
			RecordScriptKeys: engine.RecordScriptKeys,
			Call:             engine.RunDirect,
			Settle:           core.Settle,
			Interrupt:        engine.Interrupt,
			Engine:           engine,
		}
	}
	backdoor.Config = func(settings any) *config.Config { return settings.(*Settings).config }
}
