package zset

import (
	"math"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

var (
	errNXAndXX   = resp.Error("ERR XX and NX options at the same time are not compatible")
	errGTLTAndNX = resp.Error("ERR GT, LT, and/or NX options at the same time are not compatible")
	errIncrPairs = resp.Error("ERR INCR option supports a single increment-element pair")
	errNaN       = resp.Error("ERR resulting score is not a number (NaN)")
)

// AddOptions are the options of ZADD.
type AddOptions struct{ NX, XX, GT, LT, CH, Incr bool }

// Condition sets an option that ZADD and GEOADD share. It returns false for another word.
func (o *AddOptions) Condition(word []byte) bool {
	switch {
	case command.IsWord(word, "nx"):
		o.NX = true
	case command.IsWord(word, "xx"):
		o.XX = true
	case command.IsWord(word, "ch"):
		o.CH = true
	default:
		return false
	}
	return true
}

// option sets an option of ZADD. It returns false for another word.
func (o *AddOptions) option(word []byte) bool {
	switch {
	case o.Condition(word):
	case command.IsWord(word, "gt"):
		o.GT = true
	case command.IsWord(word, "lt"):
		o.LT = true
	case command.IsWord(word, "incr"):
		o.Incr = true
	default:
		return false
	}
	return true
}

// parseAddOptions parses the options of ZADD. pairs are the scores and members behind them.
func parseAddOptions(args resp.Args) (o AddOptions, pairs resp.Args, failure resp.Reply) {
	i := 2
	for i < len(args) && o.option(args[i]) {
		i++
	}
	pairs = args[i:]
	switch {
	case len(pairs) == 0 || len(pairs)%2 != 0:
		failure = resp.ErrSyntax
	case o.NX && o.XX:
		failure = errNXAndXX
	case o.GT && o.LT || o.NX && (o.GT || o.LT):
		failure = errGTLTAndNX
	case o.Incr && len(pairs) > 2:
		failure = errIncrPairs
	}
	return o, pairs, failure
}

// ParseScore parses a score as ZADD does.
func ParseScore(b []byte) (score float64, ok bool) {
	if n, isInt := resp.ParseInt(b); isInt {
		return float64(n), true
	}
	return store.ParseFloat(b)
}

func zadd(c *command.Ctx, args resp.Args) resp.Reply {
	o, pairs, failure := parseAddOptions(args)
	if failure.IsError() {
		return failure
	}
	var buf [8]float64 // saves an allocation
	scores := buf[:0]
	for i := 0; i < len(pairs); i += 2 {
		score, ok := ParseScore(pairs[i])
		if !ok {
			return resp.ErrNotFloat
		}
		scores = append(scores, score)
	}
	return AddMembers(c, args[1], o, scores, pairs)
}

func zincrby(c *command.Ctx, args resp.Args) resp.Reply {
	o, pairs, failure := parseAddOptions(args) // any option makes the pair incomplete: a syntax error
	if failure.IsError() {
		return failure
	}
	by, ok := ParseScore(pairs[0])
	if !ok {
		return resp.ErrNotFloat
	}
	o.Incr = true
	return AddMembers(c, args[1], o, []float64{by}, pairs)
}

// AddMembers gives the member pairs[2*i+1] the score scores[i], for every i.
func AddMembers(c *command.Ctx, key []byte, o AddOptions, scores []float64, pairs resp.Args) resp.Reply {
	e := c.DB.LookupWrite(key)
	z, ok := command.As[*store.ZSet](e)
	switch {
	case !ok:
		return resp.ErrWrongType
	case e == nil && o.XX && o.Incr:
		return resp.Nil
	case e == nil && o.XX:
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
		if o.Incr {
			event = "zincr"
		}
		c.Put(key, e, z, command.ZSetClass, event, added+updated, command.Came(pairs[1:], 2, added))
	}
	switch {
	case o.Incr && untouched > 0:
		return resp.Nil
	case o.Incr:
		return resp.Double(score)
	case o.CH:
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
	c *command.Ctx, z *store.ZSet, o AddOptions, score float64, member []byte,
) (float64, addOutcome) {
	old, has := z.Score(member)
	switch {
	case has && o.NX, !has && o.XX:
		return 0, outcomeRefused
	case !has:
		z.Add(member, score, &c.Space.Limits)
		return score, outcomeAdded
	}
	if o.Incr {
		if score += old; math.IsNaN(score) {
			return 0, outcomeNaN
		}
	}
	switch {
	case o.LT && score >= old, o.GT && score <= old:
		return 0, outcomeRefused
	case score == old:
		return score, outcomeSame
	}
	z.Update(member, score)
	return score, outcomeUpdated
}
