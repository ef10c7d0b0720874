package geo

import (
	"math"
	"strconv"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/command/zset"
	"github.com/lockredis/lockredis/internal/geo"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

var errGeoUnit = resp.Error("ERR unsupported unit provided. please use M, KM, FT, MI")

// parseUnit returns the meters of a unit. ok is false for any other word.
func parseUnit(arg []byte) (meters float64, ok bool) {
	switch {
	case command.IsWord(arg, "m"):
		return 1, true
	case command.IsWord(arg, "km"):
		return 1000, true
	case command.IsWord(arg, "ft"):
		return 0.3048, true
	case command.IsWord(arg, "mi"):
		return 1609.34, true
	}
	return 0, false
}

// parsePoint parses a longitude and a latitude.
func parsePoint(longitude, latitude []byte) (p geo.Point, failure resp.Reply) {
	x, okX := zset.ParseScore(longitude)
	y, okY := zset.ParseScore(latitude)
	if !okX || !okY {
		return p, resp.ErrNotFloat
	}
	p = geo.Point{Longitude: x, Latitude: y}
	if !p.Valid() {
		return p, resp.Error("ERR invalid longitude,latitude pair " +
			string(fixedFloat(x, 6)) + "," + string(fixedFloat(y, 6)))
	}
	return p, resp.NoReply
}

// fixedFloat formats f as C's %.<digits>f does.
func fixedFloat(f float64, digits int) []byte { return appendFixed(nil, f, digits) }

func appendFixed(to []byte, f float64, digits int) []byte {
	if math.IsInf(f, 0) {
		return resp.AppendFloat(to, f, digits)
	}
	return strconv.AppendFloat(to, f, 'f', digits, 64)
}

func geoadd(c *command.Ctx, args resp.Args) resp.Reply {
	o, i := zset.AddOptions{}, 2
	for i < len(args) && o.Condition(args[i]) {
		i++
	}
	places := args[i:]
	if len(places)%3 != 0 || len(places) == 0 || o.NX && o.XX {
		return resp.ErrSyntax
	}
	scores := make([]float64, len(places)/3)
	pairs := make(resp.Args, 2*len(scores))
	for i := range scores {
		p, failure := parsePoint(places[3*i], places[3*i+1])
		if failure.IsError() {
			return failure
		}
		scores[i], pairs[2*i+1] = geo.Score(p), places[3*i+2]
	}
	return zset.AddMembers(c, args[1], o, scores, pairs)
}

// pointOf returns the place of a member. ok is false when the set is nil or lacks the member.
func pointOf(z *store.ZSet, member []byte) (p geo.Point, ok bool) {
	if z == nil {
		return p, false
	}
	score, ok := z.Score(member)
	return geo.At(score), ok
}

func geopos(c *command.Ctx, args resp.Args) resp.Reply {
	return eachPlace(c, args, resp.NilArray, pointReply)
}

func geohash(c *command.Ctx, args resp.Args) resp.Reply {
	return eachPlace(c, args, resp.Nil, func(p geo.Point) resp.Reply {
		return resp.BulkString(geo.Geohash(p))
	})
}

// eachPlace replies with the place of each member as show returns it, and with missing for a
// member that is not in the set.
func eachPlace(
	c *command.Ctx, args resp.Args, missing resp.Reply, show func(geo.Point) resp.Reply,
) resp.Reply {
	z, ok := zset.Read(c, args[1])
	if !ok {
		return resp.ErrWrongType
	}
	replies := make([]resp.Reply, len(args)-2)
	for i, member := range args[2:] {
		replies[i] = missing
		if p, ok := pointOf(z, member); ok {
			replies[i] = show(p)
		}
	}
	return resp.Array(replies...)
}

// pointReply is a longitude and a latitude with 17 digits behind the point at most.
func pointReply(p geo.Point) resp.Reply {
	return resp.Array(coordinateReply(p.Longitude), coordinateReply(p.Latitude))
}

func coordinateReply(f float64) resp.Reply {
	text := fixedFloat(f, 17)
	for text[len(text)-1] == '0' {
		text = text[:len(text)-1]
	}
	if text[len(text)-1] == '.' {
		text = text[:len(text)-1]
	}
	if string(text) == "-0" {
		text = text[1:]
	}
	return resp.DoubleText(string(text))
}

// distanceReply is a distance with four digits behind the point.
func distanceReply(d float64) resp.Reply { return resp.Bulk(fixedFloat(d, 4)) }

func geodist(c *command.Ctx, args resp.Args) resp.Reply {
	unit := 1.0
	if len(args) == 5 {
		var ok bool
		if unit, ok = parseUnit(args[4]); !ok {
			return errGeoUnit
		}
	}
	if len(args) > 5 {
		return resp.ErrSyntax
	}
	z, ok := zset.Read(c, args[1])
	if !ok {
		return resp.ErrWrongType
	}
	a, okA := pointOf(z, args[2])
	b, okB := pointOf(z, args[3])
	if !okA || !okB {
		return resp.Nil
	}
	return distanceReply(geo.Distance(a, b) / unit)
}
