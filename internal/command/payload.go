package command

import (
	"github.com/lockredis/lockredis/internal/rdb"
	"github.com/lockredis/lockredis/resp"
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
