package debug

import (
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"strconv"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

// This file has DEBUG DIGEST and DEBUG DIGEST-VALUE. Equal data have an equal digest,
// on lockredis and on redis-server 7.0. The order of keys, and of elements in hashes
// and sets, does not count. A deadline counts only as present or absent.

// digest is the state of a digest. The zero digest is the digest of nothing.
type digest [sha1.Size]byte

// join adds data to the digest. The order of several calls does not count.
func (d *digest) join(data []byte) {
	sum := sha1.Sum(data)
	for i := range d {
		d[i] ^= sum[i]
	}
}

// mix adds data to the digest. The order of several calls counts.
func (d *digest) mix(data []byte) {
	d.join(data)
	*d = sha1.Sum(d[:])
}

// mixNumber mixes n as 4 bytes, the most significant first.
func (d *digest) mixNumber(n uint32) { d.mix(binary.BigEndian.AppendUint32(nil, n)) }

// joinPair joins the digest of a pair: a field with its value, a member with its score.
func (d *digest) joinPair(first, second []byte) {
	var pair digest
	pair.mix(first)
	pair.mix(second)
	d.join(pair[:])
}

func (d *digest) hex() string { return hex.EncodeToString(d[:]) }

// The numbers of the types in a digest. They are Redis's.
const (
	digestString = 0
	digestList   = 1
	digestSet    = 2
	digestZSet   = 3
	digestHash   = 4
	digestStream = 6
)

// mixEntry mixes the value of e, and whether the key has a deadline. A new type of
// values gets its number above and a case here.
func (d *digest) mixEntry(e *store.Entry) {
	switch v := e.Value().(type) {
	case *store.String:
		d.mixNumber(digestString)
		d.mix(v.Bytes(nil))
	case *store.List:
		d.mixNumber(digestList)
		v.Each(func(elem []byte) bool {
			d.mix(elem)
			return true
		})
	case *store.Set:
		d.mixNumber(digestSet)
		v.Each(func(member []byte) bool {
			d.join(member)
			return true
		})
	case *store.ZSet:
		d.mixNumber(digestZSet)
		v.Each(func(item store.ZItem) bool {
			d.joinPair(item.Bytes(), resp.AppendFloat(nil, item.Score, 17))
			return true
		})
	case *store.Hash:
		d.mixNumber(digestHash)
		v.Each(func(field, value []byte) bool {
			d.joinPair(field, value)
			return true
		})
	case *store.Stream:
		d.mixNumber(digestStream)
		var text []byte
		v.Range(store.StreamID{}, store.MaxStreamID, false, func(e store.StreamEntry) bool {
			d.mix(strconv.AppendUint(append(strconv.AppendUint(nil, e.ID.MS, 10), '.'), e.ID.Seq, 10))
			e.Fields(func(name, value store.StreamText) {
				text = name.Append(text[:0])
				d.mix(text)
				text = value.Append(text[:0])
				d.mix(text)
			})
			return true
		})
	default:
		panic("command: no digest for a value of type " + string(v.Type()))
	}
	if e.HasDeadline() {
		d.join([]byte("!!expire!!"))
	}
}

// debugDigest replies with the digest of all databases. Expired keys count while they
// are not deleted.
func debugDigest(c *command.Ctx, _ resp.Args) resp.Reply {
	var all digest
	for i, db := range c.Space.Opened() {
		if db.Len() == 0 {
			continue
		}
		all.mixNumber(uint32(i))
		db.EachStored(func(e *store.Entry) bool {
			var one digest
			one.mix([]byte(e.Key()))
			one.mixEntry(e)
			all.join(one[:])
			return true
		})
	}
	return resp.Status(all.hex())
}

// debugDigestValue replies with the digest of each key's value. A missing key has the
// digest of nothing.
func debugDigestValue(c *command.Ctx, args resp.Args) resp.Reply {
	digests := make([]resp.Reply, 0, len(args)-2)
	for _, key := range args[2:] {
		var d digest
		if e := c.DB.Stored(key); e != nil {
			d.mixEntry(e)
		}
		digests = append(digests, resp.Status(d.hex()))
	}
	return resp.Array(digests...)
}
