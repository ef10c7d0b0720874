package rdb

import (
	"encoding/binary"
	"math"

	"github.com/lockredis/lockredis/store"
)

// zset reads a sorted set of the type kind.
func (d *decoder) zset(kind byte) store.Value {
	var items []store.ZItem
	lim := *d.lim
	build := store.BuildFittingZSet
	switch kind {
	case typeZSet, typeZSetText:
		for range d.count(2) {
			member := d.string()
			score := d.score(kind)
			if d.err != nil {
				return nil
			}
			items = append(items, store.ZItem{Member: string(member), Score: score})
		}
	default:
		read := readListpack
		if kind == typeZSetZip {
			read = readZiplist
		}
		lim.ZSetValue = math.MaxInt // Redis looks at the number of members only
		build = store.BuildPackedZSet
		elems := d.packed(read)
		for i := 0; i+1 < len(elems); i += 2 {
			score := packedScore(elems[i+1])
			if math.IsNaN(score) { // Differs from Redis: it accepts NaN here
				d.fail(corrupt("score %q", elems[i+1]))
			}
			items = append(items, store.ZItem{Member: string(elems[i]), Score: score})
		}
		if len(elems)%2 != 0 {
			d.fail(corrupt("sorted set with a member without score"))
		}
	}
	if d.err != nil {
		return nil
	}
	members := make(map[string]struct{}, len(items))
	for _, item := range items {
		members[item.Member] = struct{}{}
	}
	if len(members) != len(items) {
		d.fail(corrupt("sorted set with a member twice"))
		return nil
	}
	return build(items, &lim)
}

// packedScore returns a score of a packed set. It is the number that the text begins with, 0
// if there is none: Redis reads it with strtod, and the first 127 bytes only.
func packedScore(text []byte) float64 {
	f, _ := number(text[:min(len(text), 127)])
	return f
}

// score reads a score: 8 bytes, or for typeZSetText a text with its length.
func (d *decoder) score(kind byte) float64 {
	if kind == typeZSet {
		b := d.bytes(8)
		if b == nil {
			return 0
		}
		score := math.Float64frombits(binary.LittleEndian.Uint64(b))
		if math.IsNaN(score) {
			d.fail(corrupt("score that is not a number"))
		}
		return score
	}
	switch n := d.byte(); n {
	case 255:
		return math.Inf(-1)
	case 254:
		return math.Inf(1)
	case 253:
		d.fail(corrupt("score that is not a number"))
		return 0
	default:
		text := d.bytes(uint64(n))
		score, ok := number(text)
		if !ok || math.IsNaN(score) {
			d.fail(corrupt("score %q", text))
		}
		return score
	}
}
