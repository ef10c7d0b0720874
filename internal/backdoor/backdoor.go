// Package backdoor lets lockredistest look inside a lockredis.Server and act on it in ways
// that the server's users have no method for.
//
// A public method would have to name internal types, which users could see and not use. So
// the root package registers a function here instead. Only code in this module can import
// this package.
package backdoor

import (
	"github.com/lockredis/lockredis/internal/inspect"
	"github.com/lockredis/lockredis/resp"
)

// Open returns the inside of a *lockredis.Server. The root package sets Open once, when it
// is initialised.
var Open func(server any) Inside

// Inside is what can be done with a server beyond its public methods.
type Inside struct {
	// Inspector looks at locks and clients. It knows holders only after RecordScriptKeys.
	Inspector *inspect.Inspector

	// RecordScriptKeys has the engine record which keys scripts write. It is called
	// before the server starts.
	RecordScriptKeys func()

	// Call runs a command on a database, without a connection, and passes the reply to
	// use. The reply is valid until use returns. See engine.Engine's Call.
	Call func(db int, args resp.Args, use func(resp.Reply))

	// Settle waits until each client that was woken, because its blocking command or a
	// pause ended, has run the commands that it had already sent.
	Settle func()

	// Engine is the *engine.Engine, for the project's own tests that break an engine on
	// purpose.
	Engine any
}
