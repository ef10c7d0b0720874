package command

import (
	"cmp"
	"slices"
	"strings"

	"github.com/lockredis/lockredis/internal/geo"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

func georadius(c *Ctx, args resp.Args) resp.Reply {
	return searchAround(c, args, geoForm{mayStore: true})
}

func georadiusRO(c *Ctx, args resp.Args) resp.Reply { return searchAround(c, args, geoForm{}) }

func georadiusbymember(c *Ctx, args resp.Args) resp.Reply {
	return searchAroundMember(c, args, geoForm{mayStore: true})
}

func georadiusbymemberRO(c *Ctx, args resp.Args) resp.Reply {
	return searchAroundMember(c, args, geoForm{})
}

func searchAround(c *Ctx, args resp.Args, form geoForm) resp.Reply {
	q, failure := newGeoQuery(c, args[1], form)
	if !failure.IsError() {
		failure = q.parsePlace(args[2], args[3])
	}
	if !failure.IsError() {
		failure = q.parseCircle(args[4], args[5])
	}
	if failure.IsError() {
		return failure
	}
	return q.reply(c, args, 6)
}

func searchAroundMember(c *Ctx, args resp.Args, form geoForm) resp.Reply {
	q, failure := newGeoQuery(c, args[1], form)
	if q != nil && q.zset != nil { // of a missing set Redis parses only the options
		failure = q.parseMember(args[2])
		if !failure.IsError() {
			failure = q.parseCircle(args[3], args[4])
		}
	}
	if failure.IsError() {
		return failure
	}
	return q.reply(c, args, 5)
}

func geosearch(c *Ctx, args resp.Args) resp.Reply {
	q, failure := newGeoQuery(c, args[1], geoForm{search: true})
	if failure.IsError() {
		return failure
	}
	return q.reply(c, args, 2)
}

func geosearchstore(c *Ctx, args resp.Args) resp.Reply {
	q, failure := newGeoQuery(c, args[2], geoForm{search: true, searchInto: true})
	if failure.IsError() {
		return failure
	}
	q.storeKey = args[1]
	return q.reply(c, args, 3)
}

// newGeoQuery returns a query about the set under key.
func newGeoQuery(c *Ctx, key []byte, form geoForm) (q *geoQuery, failure resp.Reply) {
	z, ok := readZSet(c, key)
	if !ok {
		return nil, resp.ErrWrongType
	}
	return &geoQuery{form: form, zset: z}, resp.NoReply
}

// reply parses the options, which begin at position from, and runs the search.
func (q *geoQuery) reply(c *Ctx, args resp.Args, from int) resp.Reply {
	if failure := q.parseOptions(args.String(0), args[from:]); failure.IsError() {
		return failure
	}
	var found []geoMember
	if q.zset != nil {
		found = q.sort(q.find())
	}
	if q.storeKey != nil {
		return q.store(c, found)
	}
	replies := make([]resp.Reply, len(found))
	for i := range found {
		replies[i] = q.memberReply(&found[i])
	}
	return resp.Array(replies...)
}

// geoMember is a member that a search has found.
type geoMember struct {
	name     string // may alias the set
	score    float64
	place    geo.Point
	distance float64 // from the center, in meters; 0 if the query does not need it
}

// find returns the members in the shape, in Redis's order.
func (q *geoQuery) find() (found []geoMember) {
	search := geo.NewSearch(q.shape)
	measure := q.withDist || q.storeDist || q.sorted() != geoUnsorted
	full := func() bool { return q.any && int64(len(found)) >= q.count }
	for _, scores := range search.Scores() {
		if full() {
			break
		}
		from, to := q.zset.ByScore(&store.ScoreRange{
			Min: scores[0], Max: scores[1], MaxExclusive: true})
		q.zset.Walk(from, to, false, func(item store.ZItem) bool {
			p := geo.At(item.Score)
			if !search.Contains(p) {
				return true
			}
			m := geoMember{name: item.Member, score: item.Score, place: p}
			if measure {
				m.distance = search.Distance(p)
			}
			found = append(found, m)
			return !full()
		})
	}
	return found
}

// sorted returns the order of the result. A COUNT without an order wants the nearest, but with
// ANY it wants no order.
func (q *geoQuery) sorted() geoOrder {
	if q.count > 0 && q.order == geoUnsorted && !q.any {
		return geoNearestFirst
	}
	return q.order
}

// sort sorts the members and returns the first COUNT of them.
func (q *geoQuery) sort(found []geoMember) []geoMember {
	order := q.sorted()
	wanted := len(found)
	if q.count > 0 {
		wanted = int(min(q.count, int64(wanted)))
	}
	compare := func(a, b *geoMember) int { return cmp.Compare(a.distance, b.distance) }
	if order == geoFarthestFirst {
		compare = func(a, b *geoMember) int { return cmp.Compare(b.distance, a.distance) }
	}
	switch {
	case order == geoUnsorted:
	case wanted == len(found):
		slices.SortStableFunc(found, func(a, b geoMember) int { return compare(&a, &b) })
	default:
		p := partialSort[geoMember]{items: found, from: 0, to: wanted - 1, compare: compare}
		p.sort(0, len(found))
	}
	return found[:wanted]
}

func (q *geoQuery) memberReply(m *geoMember) resp.Reply {
	reply := resp.BulkString(m.name)
	if !q.withDist && !q.withHash && !q.withCoord {
		return reply
	}
	parts := append(make([]resp.Reply, 0, 4), reply)
	if q.withDist {
		parts = append(parts, distanceReply(m.distance/q.unit))
	}
	if q.withHash {
		parts = append(parts, resp.Int(int64(m.score)))
	}
	if q.withCoord {
		parts = append(parts, pointReply(m.place))
	}
	return resp.Array(parts...)
}

// store stores the members with their scores, or with their distances.
func (q *geoQuery) store(c *Ctx, found []geoMember) resp.Reply {
	items := make([]store.ZItem, len(found))
	for i, m := range found {
		items[i] = store.ZItem{Member: strings.Clone(m.name), Score: m.score}
		if q.storeDist {
			items[i].Score = m.distance / q.unit
		}
	}
	z := store.BuildZSet(items)
	z.Fit(&c.Space.Limits)
	event := "georadiusstore"
	if q.form.search {
		event = "geosearchstore"
	}
	reply := storeResult(c, q.storeKey, z, z.Len(), ZSetClass, event)
	if n := int64(len(found)); n > 0 {
		c.Dirty += n - 1 // storeResult has counted one
	}
	return reply
}
