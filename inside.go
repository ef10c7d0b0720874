package lockredis

import "github.com/lockredis/lockredis/internal/backdoor"

// lockredistest cannot reach a Server's unexported fields, and an exported method would show
// internal types to every user. So the way in is registered with an internal package.
func init() {
	backdoor.Open = func(server any) backdoor.Inside {
		core := server.(*Server).core
		engine := core.Engine()
		return backdoor.Inside{
			Inspector:        engine.Inspector(),
			RecordScriptKeys: engine.RecordScriptKeys,
			Call:             engine.Call,
			Settle:           core.Settle,
			Engine:           engine,
		}
	}
}
