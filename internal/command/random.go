package command

import (
	"math"
	"math/rand/v2"

	"github.com/lockredis/lockredis/resp"
)

// Code that SRANDMEMBER, HRANDFIELD and ZRANDMEMBER share.

var (
	errCountRange = resp.Error("ERR value is out of range, " +
		"value must between -9223372036854775807 and 9223372036854775807")
	errCountTooLarge = resp.Error("ERR value is out of range")
	ErrTooManyPicks  = resp.Error("ERR value is out of range, " +
		"a negative count must be between -1048576 and -1")
)

// MaxRandomPicks limits the reply to a negative count, which can be longer than the value.
//
// Differs from Redis: Redis has no limit and can run out of memory.
const MaxRandomPicks = 1 << 20

// ParseRandomCount parses the count of SRANDMEMBER, HRANDFIELD and ZRANDMEMBER.
func ParseRandomCount(arg []byte) (n int64, failure resp.Reply) {
	n, ok := resp.ParseInt(arg)
	switch {
	case !ok:
		return 0, resp.ErrNotInt
	case n == math.MinInt64:
		return 0, errCountRange
	}
	return n, resp.NoReply
}

// ParseRandomOptions parses the arguments of HRANDFIELD and ZRANDMEMBER from args[2] on: the
// count and the option withOption (WITHVALUES or WITHSCORES). paired tells whether the option
// is there.
func ParseRandomOptions(
	args resp.Args, withOption string,
) (count int64, paired bool, failure resp.Reply) {
	count, failure = ParseRandomCount(args[2])
	if failure.IsError() {
		return 0, false, failure
	}
	paired = len(args) == 4 && IsWord(args[3], withOption)
	switch {
	case len(args) > 3 && !paired:
		return 0, false, resp.ErrSyntax
	case paired && (count < -math.MaxInt64/2 || count > math.MaxInt64/2):
		return 0, false, errCountTooLarge
	}
	return count, paired, resp.NoReply
}

// RandomPicks returns the positions that count selects among size elements. A negative count
// selects -count random positions, which can repeat. Any other count selects that many
// different positions, or all of them in order if there are not more. size must not be 0.
func RandomPicks(rnd *rand.Rand, size int, count int64) []int {
	if count < 0 {
		picks := make([]int, -count)
		for i := range picks {
			picks[i] = rnd.IntN(size)
		}
		return picks
	}
	if count >= int64(size) {
		picks := make([]int, size)
		for i := range picks {
			picks[i] = i
		}
		return picks
	}
	return distinctPicks(rnd, size, int(count))
}

// distinctPicks returns n different numbers below size in random order. n must be less than
// size. It shuffles the numbers below size and stops after n of them. moved holds only the
// positions whose number has changed.
func distinctPicks(rnd *rand.Rand, size, n int) []int {
	picks := make([]int, n)
	moved := make(map[int]int, n)
	for i := range picks {
		j := i + rnd.IntN(size-i)
		at := func(k int) int {
			if v, ok := moved[k]; ok {
				return v
			}
			return k
		}
		picks[i] = at(j)
		moved[j] = at(i)
	}
	return picks
}
