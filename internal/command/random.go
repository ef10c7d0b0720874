package command

import (
	"math"
	"math/rand/v2"

	"github.com/lockredis/lockredis/resp"
)

// What SRANDMEMBER, HRANDFIELD and ZRANDMEMBER have in common.

var (
	errCountRange    = resp.Error("ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807")
	errCountTooLarge = resp.Error("ERR value is out of range")
	errTooManyPicks  = resp.Error("ERR value is out of range, a negative count must be between -1048576 and -1")
)

// maxRandomPicks bounds the answer to a negative count, which may be longer than
// the value is.
//
// Differs from Redis: it sends as many picks as were asked for, if it takes its
// last byte of memory.
const maxRandomPicks = 1 << 20

// parseRandomCount reads the count of SRANDMEMBER, HRANDFIELD and ZRANDMEMBER.
func parseRandomCount(arg []byte) (n int64, failure resp.Reply) {
	n, ok := resp.ParseInt(arg)
	switch {
	case !ok:
		return 0, resp.ErrNotInt
	case n == math.MinInt64:
		return 0, errCountRange
	}
	return n, resp.NoReply
}

// parseRandomOptions reads the count of HRANDFIELD and ZRANDMEMBER, which stands
// at args[2], and the word behind it that asks for values or scores, too.
func parseRandomOptions(args resp.Args, word string) (count int64, paired bool, failure resp.Reply) {
	count, failure = parseRandomCount(args[2])
	if failure.IsError() {
		return 0, false, failure
	}
	paired = len(args) == 4 && isWord(args[3], word)
	switch {
	case len(args) > 3 && !paired:
		return 0, false, resp.ErrSyntax
	case paired && (count < -math.MaxInt64/2 || count > math.MaxInt64/2):
		return 0, false, errCountTooLarge
	}
	return count, paired, resp.NoReply
}

// randomPicks returns which of size elements a random count means: for a
// negative one that many, each any element; else that many different ones, or
// all in their order when there are no more. size must not be 0.
func randomPicks(rnd *rand.Rand, size int, count int64) []int {
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

// distinctPicks returns n different numbers below size, n being smaller, in
// random order: the first n of a shuffled sequence, of which only the moved
// places are remembered.
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
