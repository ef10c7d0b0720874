package geo

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/command/zset"
	"github.com/lockredis/lockredis/internal/geo"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

var (
	errGeoMember       = resp.Error("ERR could not decode requested zset member")
	errGeoRadius       = resp.Error("ERR need numeric radius")
	errGeoRadiusSign   = resp.Error("ERR radius cannot be negative")
	errGeoWidth        = resp.Error("ERR need numeric width")
	errGeoHeight       = resp.Error("ERR need numeric height")
	errGeoBoxSign      = resp.Error("ERR height or width cannot be negative")
	errGeoCount        = resp.Error("ERR COUNT must be > 0")
	errGeoAny          = resp.Error("ERR the ANY argument requires COUNT argument")
	errGeoStoreOptions = resp.Error("ERR STORE option in GEORADIUS " +
		"is not compatible with WITHDIST, WITHHASH and WITHCOORD options")
	errGeoSearchStoreOptions = resp.Error("ERR GEOSEARCHSTORE " +
		"is not compatible with WITHDIST, WITHHASH and WITHCOORD options")
)

// geoForm is a command that searches.
type geoForm struct {
	search     bool // GEOSEARCH and GEOSEARCHSTORE: the options name center and shape
	mayStore   bool // GEORADIUS and GEORADIUSBYMEMBER: STORE and STOREDIST name a key
	searchInto bool // GEOSEARCHSTORE
}

// geoOrder is the order of a search's result.
type geoOrder uint8

const (
	geoUnsorted geoOrder = iota
	geoNearestFirst
	geoFarthestFirst
)

// geoQuery is a parsed search.
type geoQuery struct {
	form geoForm
	zset *store.ZSet // nil: the key is missing

	shape                         geo.Shape
	area                          *geo.Search // of the shape
	unit                          float64     // in meters
	fromMember, fromPoint         bool
	byRadius, byBox               bool
	withDist, withHash, withCoord bool
	order                         geoOrder
	count                         int64 // 0: all
	any                           bool  // stop at the first count members
	storeKey                      []byte
	storeDist                     bool // store distances, not places
}

// parseMember makes the place of a member the center. If the set is missing, the command
// will return no member, and the center stays as it is.
func (q *geoQuery) parseMember(member []byte) (failure resp.Reply) {
	p, ok := pointOf(q.zset, member)
	if q.zset != nil && !ok {
		return errGeoMember
	}
	q.shape.Center = p
	return resp.NoReply
}

// parsePlace parses the center.
func (q *geoQuery) parsePlace(longitude, latitude []byte) (failure resp.Reply) {
	q.shape.Center, failure = parsePoint(longitude, latitude)
	return failure
}

// parseCircle parses a radius and its unit.
func (q *geoQuery) parseCircle(radius, unit []byte) (failure resp.Reply) {
	r, ok := zset.ParseScore(radius)
	switch {
	case !ok:
		return errGeoRadius
	case r < 0:
		return errGeoRadiusSign
	}
	if q.unit, ok = parseUnit(unit); !ok {
		return errGeoUnit
	}
	q.shape.Box, q.shape.Radius = false, r*q.unit
	return resp.NoReply
}

// parseBox parses a width, a height and their unit.
func (q *geoQuery) parseBox(width, height, unit []byte) (failure resp.Reply) {
	w, ok := zset.ParseScore(width)
	if !ok {
		return errGeoWidth
	}
	h, ok := zset.ParseScore(height)
	switch {
	case !ok:
		return errGeoHeight
	case w < 0 || h < 0:
		return errGeoBoxSign
	}
	if q.unit, ok = parseUnit(unit); !ok {
		return errGeoUnit
	}
	q.shape.Box, q.shape.Width, q.shape.Height = true, w*q.unit, h*q.unit
	return resp.NoReply
}

// parseOptions parses the options. name is the command's as the client spelled it.
func (q *geoQuery) parseOptions(name string, args resp.Args) (failure resp.Reply) {
	for len(args) > 0 {
		taken := q.parseFlag(args[0])
		if taken == 0 {
			taken, failure = q.parseValue(args)
		}
		if taken == 0 && q.form.search && !failure.IsError() {
			taken, failure = q.parseShape(args)
		}
		switch {
		case failure.IsError():
			return failure
		case taken == 0:
			return resp.ErrSyntax
		}
		args = args[taken:]
	}
	return q.checkOptions(name)
}

// parseFlag parses an option without a value. It returns 0 for any other word, else 1, the
// number of arguments that it has taken.
func (q *geoQuery) parseFlag(arg []byte) (taken int) {
	switch {
	case command.IsWord(arg, "withdist"):
		q.withDist = true
	case command.IsWord(arg, "withhash"):
		q.withHash = true
	case command.IsWord(arg, "withcoord"):
		q.withCoord = true
	case command.IsWord(arg, "any"):
		q.any = true
	case command.IsWord(arg, "asc"):
		q.order = geoNearestFirst
	case command.IsWord(arg, "desc"):
		q.order = geoFarthestFirst
	case q.form.searchInto && command.IsWord(arg, "storedist"):
		q.storeDist = true
	default:
		return 0
	}
	return 1
}

// parseValue parses COUNT, STORE and STOREDIST. It returns 0 for any other word, else the
// number of arguments that it has taken.
func (q *geoQuery) parseValue(args resp.Args) (taken int, failure resp.Reply) {
	if len(args) < 2 {
		return 0, failure
	}
	switch {
	case command.IsWord(args[0], "count"):
		n, ok := resp.ParseInt(args[1])
		switch {
		case !ok:
			return 0, resp.ErrNotInt
		case n <= 0:
			return 0, errGeoCount
		}
		q.count = n
	case q.form.mayStore && command.IsWord(args[0], "store"):
		q.storeKey, q.storeDist = args[1], false
	case q.form.mayStore && command.IsWord(args[0], "storedist"):
		q.storeKey, q.storeDist = args[1], true
	default:
		return 0, failure
	}
	return 2, failure
}

// parseShape parses the center or the shape of GEOSEARCH. It returns 0 for any other word,
// else the number of arguments that it has taken.
func (q *geoQuery) parseShape(args resp.Args) (taken int, failure resp.Reply) {
	switch left := len(args) - 1; {
	case command.IsWord(args[0], "frommember") && left >= 1 && !q.fromPoint:
		q.fromMember = true
		return 2, q.parseMember(args[1])
	case command.IsWord(args[0], "fromlonlat") && left >= 2 && !q.fromMember:
		q.fromPoint = true
		return 3, q.parsePlace(args[1], args[2])
	case command.IsWord(args[0], "byradius") && left >= 2 && !q.byBox:
		q.byRadius = true
		return 3, q.parseCircle(args[1], args[2])
	case command.IsWord(args[0], "bybox") && left >= 3 && !q.byRadius:
		q.byBox = true
		return 4, q.parseBox(args[1], args[2], args[3])
	}
	return 0, failure
}

// checkOptions refuses options that contradict each other or are missing.
func (q *geoQuery) checkOptions(name string) (failure resp.Reply) {
	switch {
	case q.storeKey != nil && (q.withDist || q.withHash || q.withCoord):
		if q.form.searchInto {
			return errGeoSearchStoreOptions
		}
		return errGeoStoreOptions
	case q.form.search && !q.fromMember && !q.fromPoint:
		return resp.Errorf("ERR exactly one of FROMMEMBER or FROMLONLAT can be specified for %s", name)
	case q.form.search && !q.byRadius && !q.byBox:
		return resp.Errorf("ERR exactly one of BYRADIUS and BYBOX can be specified for %s", name)
	case q.any && q.count == 0:
		return errGeoAny
	}
	return resp.NoReply
}
