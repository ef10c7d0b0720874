package geo

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/command/zset"
	"github.com/lockredis/lockredis/internal/geo"
	"github.com/lockredis/lockredis/internal/partialsort"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

func georadius(c *command.Ctx, args resp.Args) resp.Reply {
	return searchAround(c, args, geoForm{mayStore: true})
}

func georadiusRO(c *command.Ctx, args resp.Args) resp.Reply { return searchAround(c, args, geoForm{}) }

func georadiusbymember(c *command.Ctx, args resp.Args) resp.Reply {
	return searchAroundMember(c, args, geoForm{mayStore: true})
}

func georadiusbymemberRO(c *command.Ctx, args resp.Args) resp.Reply {
	return searchAroundMember(c, args, geoForm{})
}

func searchAround(c *command.Ctx, args resp.Args, form geoForm) resp.Reply {
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

func searchAroundMember(c *command.Ctx, args resp.Args, form geoForm) resp.Reply {
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

func geosearch(c *command.Ctx, args resp.Args) resp.Reply {
	q, failure := newGeoQuery(c, args[1], geoForm{search: true})
	if failure.IsError() {
		return failure
	}
	return q.reply(c, args, 2)
}

func geosearchstore(c *command.Ctx, args resp.Args) resp.Reply {
	q, failure := newGeoQuery(c, args[2], geoForm{search: true, searchInto: true})
	if failure.IsError() {
		return failure
	}
	q.storeKey = args[1]
	return q.reply(c, args, 3)
}

// newGeoQuery returns a query about the set under key.
func newGeoQuery(c *command.Ctx, key []byte, form geoForm) (q *geoQuery, failure resp.Reply) {
	z, ok := zset.Read(c, key)
	if !ok {
		return nil, resp.ErrWrongType
	}
	return &geoQuery{form: form, zset: z}, resp.NoReply
}

// reply parses the options, which begin at position from, and runs the search.
func (q *geoQuery) reply(c *command.Ctx, args resp.Args, from int) resp.Reply {
	if failure := q.parseOptions(args.String(0), args[from:]); failure.IsError() {
		return failure
	}
	var found []geoMember
	if q.zset != nil {
		q.area = geo.NewSearch(q.shape)
		found = q.sort(q.find())
	}
	if q.storeDist {
		for i := range found {
			q.measure(&found[i])
		}
	}
	if q.storeKey != nil {
		return q.store(c, found)
	}
	replies := make([]resp.Reply, len(found))
	var blocks command.ReplyBlocks
	for i := range found {
		replies[i] = q.memberReply(&found[i], &blocks)
	}
	return resp.Array(replies...)
}

// geoMember is a member that a search has found.
type geoMember struct {
	name     string // may alias the set
	score    float64
	place    geo.Point
	distance float64 // from the center, in meters; negative: not measured
}

// measure returns the distance of a member from the center. It computes it once.
func (q *geoQuery) measure(m *geoMember) float64 {
	if m.distance < 0 {
		m.distance = q.area.Distance(m.place)
	}
	return m.distance
}

// find returns the members in the shape, in Redis's order.
func (q *geoQuery) find() (found []geoMember) {
	full := func() bool { return q.any && int64(len(found)) >= q.count }
	for _, scores := range q.area.Scores() {
		if full() {
			break
		}
		from, to := q.zset.ByScore(&store.ScoreRange{
			Min: scores[0], Max: scores[1], MaxExclusive: true})
		q.zset.Walk(from, to, false, func(item store.ZItem) bool {
			if !q.area.MayContain(item.Score) {
				return true
			}
			if p := geo.At(item.Score); q.area.Contains(p) {
				found = append(found, geoMember{item.Member, item.Score, p, -1})
			}
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

// geoRank is the position of a member among those found. It is sorted in place of the member,
// because it is small and has no pointers.
type geoRank struct {
	haversine float64
	at        int
}

// compare returns a function that compares members by their distances. Only distances that are
// nearly equal are measured: the haversines tell the others.
func (q *geoQuery) compare(found []geoMember, order geoOrder) func(a, b geoRank) int {
	sign := 1
	if order == geoFarthestFirst {
		sign = -1
	}
	return func(a, b geoRank) int {
		if c := geo.CompareHaversines(a.haversine, b.haversine); c != 0 {
			return sign * c
		}
		d, e := q.measure(&found[a.at]), q.measure(&found[b.at])
		return cmp.Compare(float64(sign)*d, float64(sign)*e)
	}
}

// sort sorts the members and returns the first COUNT of them.
func (q *geoQuery) sort(found []geoMember) []geoMember {
	order := q.sorted()
	wanted := len(found)
	if q.count > 0 {
		wanted = int(min(q.count, int64(wanted)))
	}
	if order == geoUnsorted {
		return found[:wanted]
	}
	ranks := make([]geoRank, len(found))
	for i := range found {
		ranks[i] = geoRank{q.area.Haversine(found[i].place), i}
	}
	compare := q.compare(found, order)
	if wanted < len(found) {
		partialsort.Sort(ranks, 0, wanted, compare)
	} else {
		slices.SortFunc(ranks, func(a, b geoRank) int { // stable, as in Redis without COUNT
			return cmp.Or(compare(a, b), a.at-b.at)
		})
	}
	sorted := make([]geoMember, wanted)
	for i, r := range ranks[:wanted] {
		sorted[i] = found[r.at]
	}
	return sorted
}

func (q *geoQuery) memberReply(m *geoMember, r *command.ReplyBlocks) resp.Reply {
	name := resp.BulkString(m.name)
	extras := 0
	for _, with := range []bool{q.withDist, q.withHash, q.withCoord} {
		if with {
			extras++
		}
	}
	if extras == 0 {
		return name
	}
	parts := append(r.Array(1 + extras)[:0], name)
	if q.withDist {
		from := r.Room(24)
		r.Text = q.appendDistance(r.Text, m)
		parts = append(parts, r.Bulk(from))
	}
	if q.withHash {
		parts = append(parts, resp.Int(int64(m.score)))
	}
	if q.withCoord {
		parts = append(parts, pointReply(m.place))
	}
	return resp.Array(parts...)
}

// appendDistance appends the distance of a member with four digits behind the point. It measures
// a member only if the last digit is in doubt.
func (q *geoQuery) appendDistance(to []byte, m *geoMember) []byte {
	n, ok := geo.Rounded(q.area.Haversine(m.place), 1e4/q.unit)
	if !ok {
		return appendFixed(to, q.measure(m)/q.unit, 4)
	}
	to = append(strconv.AppendInt(to, n/1e4, 10), '.')
	for digit := int64(1000); digit > 0; digit /= 10 {
		to = append(to, '0'+byte(n/digit%10))
	}
	return to
}

// store stores the members with their scores, or with their distances.
func (q *geoQuery) store(c *command.Ctx, found []geoMember) resp.Reply {
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
	return c.PutResult(q.storeKey, z, z.Len(), command.ZSetClass, event, int64(len(found)))
}
