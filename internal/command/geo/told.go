package geo

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/geo"
	"github.com/lockredis/lockredis/resp"
)

var wordZadd = []byte("ZADD")

// toldGeoadd tells the scores of the places.
func toldGeoadd(c *command.Ctx, args resp.Args, _ resp.Reply) {
	line, i := resp.Args{wordZadd, args[1]}, 2
	for ; (len(args)-i)%3 != 0 || isGeoaddOption(args[i]); i++ {
		line = append(line, args[i])
	}
	for ; i < len(args); i += 3 {
		p, _ := parsePoint(args[i], args[i+1])
		line = append(line, command.Digits(int64(geo.Score(p))), args[i+2])
	}
	c.Tell(line...)
}

func isGeoaddOption(arg []byte) bool {
	return command.IsWord(arg, "nx") || command.IsWord(arg, "xx") || command.IsWord(arg, "ch")
}
