package hll

import (
	"strconv"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/hll"
	"github.com/lockredis/lockredis/resp"
)

var (
	errHLLNoKey     = resp.Error("ERR The specified key does not exist")
	errHLLNotSparse = resp.Error("ERR HLL encoding is not sparse")
)

func pfdebug(c *command.Ctx, args resp.Args) resp.Reply {
	e := c.DB.LookupWrite(args[2])
	s, _, failure := sketchOf(e)
	switch {
	case failure.IsError():
		return failure
	case s == nil:
		return errHLLNoKey
	}
	sketch := hll.Sketch(s.Grow(0))
	switch sub := args[1]; {
	case command.IsWord(sub, "encoding"):
		if sketch.Dense() {
			return resp.Status("dense")
		}
		return resp.Status("sparse")
	case command.IsWord(sub, "decode"):
		if sketch.Dense() {
			return errHLLNotSparse
		}
		return resp.Bulk(decodeRuns(sketch))
	case command.IsWord(sub, "todense"), command.IsWord(sub, "getreg"):
		converts := !sketch.Dense()
		if sketch.ToDense() != nil {
			return errCorruptHLL
		}
		if converts {
			s.SetRaw(sketch)
			c.Change(e, command.StringClass, "pfdebug", 1)
		}
		if command.IsWord(sub, "todense") {
			return resp.Flag(converts)
		}
		return registersReply(c, sketch)
	}
	return resp.Errorf("ERR Unknown PFDEBUG subcommand '%s'", args[1])
}

// registersReply returns the registers as integers. A client gets them encoded: 16,384
// replies take a megabyte.
func registersReply(c *command.Ctx, sketch hll.Sketch) resp.Reply {
	if c.From == command.FromClient {
		encoded := make([]byte, 0, hll.Len*len(":00\r\n")+len("*16384\r\n"))
		encoded = append(strconv.AppendInt(append(encoded, '*'), hll.Len, 10), "\r\n"...)
		sketch.Decode(func(_ int, value byte) {
			encoded = append(strconv.AppendUint(append(encoded, ':'), uint64(value), 10), "\r\n"...)
		})
		return resp.Raw(encoded)
	}
	registers := make([]resp.Reply, hll.Len)
	sketch.Decode(func(index int, value byte) { registers[index] = resp.Int(int64(value)) })
	return resp.Array(registers...)
}

// decodeRuns returns the runs of a sparse sketch: z:3 and Z:300 for zeros in one and two
// bytes, v:5,2 for two registers of value 5.
func decodeRuns(sketch hll.Sketch) []byte {
	var text []byte
	sketch.EachRun(func(length int, value byte, wide bool) {
		if len(text) > 0 {
			text = append(text, ' ')
		}
		switch {
		case value > 0:
			text = append(text, "v:"...)
			text = strconv.AppendInt(text, int64(value), 10)
			text = append(text, ',')
		case wide:
			text = append(text, "Z:"...)
		default:
			text = append(text, "z:"...)
		}
		text = strconv.AppendInt(text, int64(length), 10)
	})
	return text
}

// pfselftest has nothing to test while the server runs: package hll's tests do that.
func pfselftest(*command.Ctx, resp.Args) resp.Reply { return resp.OK }
