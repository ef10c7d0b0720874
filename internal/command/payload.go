package command

import (
	"github.com/lockredis/lockredis/internal/rdb"
	"github.com/lockredis/lockredis/resp"
)

var errDumpFoot = resp.Error("ERR DUMP payload version or checksum are wrong")

// encoder returns the encoder of the server's payloads.
func encoder(c *Ctx) *rdb.Encoder {
	c.Encoder.Compress, c.Encoder.Valkey = c.Config.RDB.Compress, c.Config.Valkey()
	return &c.Encoder
}

// accepts returns which payloads RESTORE and FUNCTION RESTORE accept.
func accepts(c *Ctx) rdb.Accepts {
	return rdb.Accepts{AnySum: c.SkipChecksums, Valkey: c.Config.Valkey()}
}
