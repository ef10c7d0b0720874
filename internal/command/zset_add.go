package command

import (
	"math"

	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

var (
	errNXAndXX   = resp.Error("ERR XX and NX options at the same time are not compatible")
	errGTLTAndNX = resp.Error("ERR GT, LT, and/or NX options at the same time are not compatible")
	errIncrPairs = resp.Error("ERR INCR option supports a single increment-element pair")
	errNaN       = resp.Error("ERR resulting score is not a number (NaN)")
)

// addOptions are the options of ZADD.
type addOptions struct{ nx, xx, gt, lt, ch, incr bool }

// condition sets an option that ZADD and GEOADD share. It returns false for another word.
func (o *addOptions) condition(word []byte) bool {
	switch {
	case isWord(word, "nx"):
		o.nx = true
	case isWord(word, "xx"):
		o.xx = true
	case isWord(word, "ch"):
		o.ch = true
	default:
		return false
	}
	return true
}

// option sets an option of ZADD. It returns false for another word.
func (o *addOptions) option(word []byte) bool {
	switch {
	case o.condition(word):
	case isWord(word, "gt"):
		o.gt = true
	case isWord(word, "lt"):
		o.lt = true
	case isWord(word, "incr"):
		o.incr = true
	default:
		return false
	}
	return true
}

// parseAddOptions parses the options of ZADD. pairs are the scores and members behind them.
func parseAddOptions(args resp.Args) (o addOptions, pairs resp.Args, failure resp.Reply) {
	i := 2
	for i < len(args) && o.option(args[i]) {
		i++
	}
	pairs = args[i:]
	switch {
	case len(pairs) == 0 || len(pairs)%2 != 0:
		failure = resp.ErrSyntax
	case o.nx && o.xx:
		failure = errNXAndXX
	case o.gt && o.lt || o.nx && (o.gt || o.lt):
		failure = errGTLTAndNX
	case o.incr && len(pairs) > 2:
		failure = errIncrPairs
	}
	return o, pairs, failure
}

// parseScore parses a score as ZADD does.
func parseScore(b []byte) (score float64, ok bool) {
	if n, isInt := resp.ParseInt(b); isInt {
		return float64(n), true
	}
	return store.ParseFloat(b)
}

func zadd(c *Ctx, args resp.Args) resp.Reply {
	o, pairs, failure := parseAddOptions(args)
	if failure.IsError() {
		return failure
	}
	var buf [8]float64 // saves an allocation
	scores := buf[:0]
	for i := 0; i < len(pairs); i += 2 {
		score, ok := parseScore(pairs[i])
		if !ok {
			return resp.ErrNotFloat
		}
		scores = append(scores, score)
	}
	return addMembers(c, args[1], o, scores, pairs)
}

func zincrby(c *Ctx, args resp.Args) resp.Reply {
	o, pairs, failure := parseAddOptions(args) // any option makes the pair incomplete: a syntax error
	if failure.IsError() {
		return failure
	}
	by, ok := parseScore(pairs[0])
	if !ok {
		return resp.ErrNotFloat
	}
	o.incr = true
	return addMembers(c, args[1], o, []float64{by}, pairs)
}

// addMembers gives the member pairs[2*i+1] the score scores[i], for every i.
func addMembers(c *Ctx, key []byte, o addOptions, scores []float64, pairs resp.Args) resp.Reply {
	e := c.DB.LookupWrite(key)
	z, ok := asZSet(e)
	switch {
	case !ok:
		return resp.ErrWrongType
	case e == nil && o.xx && o.incr:
		return resp.Nil
	case e == nil && o.xx:
		return resp.Int(0)
	case e == nil:
		z = store.NewZSet(len(pairs[1]), &c.Space.Limits)
	}
	var added, updated, untouched int64
	var score float64
	for i := range scores {
		var outcome addOutcome
		switch score, outcome = addMember(c, z, o, scores[i], pairs[2*i+1]); outcome {
		case outcomeNaN:
			return errNaN
		case outcomeAdded:
			added++
		case outcomeUpdated:
			updated++
		case outcomeRefused:
			untouched++
		}
	}
	if added+updated > 0 {
		event := "zadd"
		if o.incr {
			event = "zincr"
		}
		c.Put(key, e, z, ZSetClass, event, added+updated, came(pairs[1:], 2, added))
	}
	switch {
	case o.incr && untouched > 0:
		return resp.Nil
	case o.incr:
		return resp.Double(score)
	case o.ch:
		return resp.Int(added + updated)
	}
	return resp.Int(added)
}

// addOutcome is the result of ZADD for one member.
type addOutcome uint8

const (
	outcomeSame addOutcome = iota // the member already had this score
	outcomeAdded
	outcomeUpdated
	outcomeRefused // by NX, XX, GT or LT
	outcomeNaN
)

// addMember adds or updates one member and returns its new score.
func addMember(
	c *Ctx, z *store.ZSet, o addOptions, score float64, member []byte,
) (float64, addOutcome) {
	old, has := z.Score(member)
	switch {
	case has && o.nx, !has && o.xx:
		return 0, outcomeRefused
	case !has:
		z.Add(member, score, &c.Space.Limits)
		return score, outcomeAdded
	}
	if o.incr {
		if score += old; math.IsNaN(score) {
			return 0, outcomeNaN
		}
	}
	switch {
	case o.lt && score >= old, o.gt && score <= old:
		return 0, outcomeRefused
	case score == old:
		return score, outcomeSame
	}
	z.Update(member, score)
	return score, outcomeUpdated
}
