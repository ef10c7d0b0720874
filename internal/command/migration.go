package command

import (
	"github.com/lockredis/lockredis/internal/rdb"
	"github.com/lockredis/lockredis/resp"
)

// Migration is a MIGRATE whose keys are on their way to another server.
type Migration struct {
	Addr    string   // host:port
	Timeout int64    // ms, for each step
	Moved   [][]byte // the keys that Finish deletes; commands that write them wait meanwhile
	Request []byte   // the commands for the other server
	Replies int      // how many replies they have
	Asked   int      // replies before RESTORE's

	// Finish deletes the keys that the other server has, and returns the reply of MIGRATE. lines
	// are the first lines of the replies that came.
	Finish func(c *Ctx, end Exchange, lines []string) resp.Reply
}

// MayRetry reports whether the commands may be sent again after an exchange that failed with
// these replies: no RESTORE has one.
func (m *Migration) MayRetry(lines []string) bool { return len(lines) <= m.Asked }

// Exchange is how far the commands of a Migration have come.
type Exchange uint8

// The ends of an exchange.
const (
	Exchanged  Exchange = iota // all replies are there
	NotDialed                  // the other server's name is unknown
	NotWritten                 // it does not take the connection or the commands
	NotRead                    // it does not send all replies in time
)

// ErrDumpFoot refuses a payload whose last bytes are wrong.
var ErrDumpFoot = resp.Error("ERR DUMP payload version or checksum are wrong")

// PayloadEncoder returns the encoder of the server's payloads.
func PayloadEncoder(c *Ctx) *rdb.Encoder {
	c.Encoder.Compress, c.Encoder.Valkey = c.Config.RDB.Compress, c.Config.Valkey()
	return &c.Encoder
}

// PayloadAccepts returns which payloads RESTORE and FUNCTION RESTORE accept.
func PayloadAccepts(c *Ctx) rdb.Accepts {
	return rdb.Accepts{AnySum: c.SkipChecksums, Valkey: c.Config.Valkey()}
}
