// Package backdoor lets the packages of this module do things with a lockredis.Server and
// its Settings that users have no method for.
//
// A public method would have to name internal types, which users could see and not use. So
// the root package registers functions here instead. Only code in this module can import
// this package. lockredistest looks inside a server through it, and cmd/lockredis reads the
// directives that concern the process.
package backdoor

import (
	"github.com/lockredis/lockredis/internal/config"
	"github.com/lockredis/lockredis/internal/inspect"
	"github.com/lockredis/lockredis/resp"
)

// The root package sets these variables once, when it is initialised.
var (
	// Open returns the inside of a *lockredis.Server.
	Open func(server any) Inside

	// Config returns the directives of a *lockredis.Settings.
	Config func(settings any) *config.Config
)

// Inside is what can be done with a server beyond its public methods.
type Inside struct {
	// Inspector looks at locks and clients. It knows holders only after RecordScriptKeys.
	Inspector *inspect.Inspector

	// RecordScriptKeys has the engine record which keys scripts write. It is called
	// before the server starts.
	RecordScriptKeys func()

	// Call runs a command on a database, without a connection, and passes the reply to
	// use. The reply is valid until use returns. See engine.Engine's RunDirect.
	Call func(db int, args resp.Args, use func(resp.Reply))

	// Settle waits until each client that was woken, because its blocking command or a
	// pause ended, has run the commands that it had already sent.
	Settle func()

	// Interrupt ends the running script, and every later script that loops.
	Interrupt func()

	// Engine is the *engine.Engine, for the project's own tests that break an engine on
	// purpose.
	Engine any
}
