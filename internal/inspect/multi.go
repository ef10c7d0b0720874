package inspect

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/lockredis/lockredis/store"
)

// The ends of the fields of a multi-lock over a group of values (Redisson's
// getMultiLock(group, values)). A value's hash v, which owner o has, is three fields: v is o,
// v:o:lock_count and v:o:expire_time, in Unix ms.
const (
	countEnd  = ":lock_count"
	expiryEnd = ":expire_time"
)

// Fields returns the fields of a lock's hash that one of its holders has there. It is no method of
// Lock: see Decisions in ARCHITECTURE.md.
func Fields(l *Lock, hash *store.Hash, h Holder) (fields [][]byte) {
	if l.Kind != Multi {
		if h.Mode == Write {
			return [][]byte{[]byte(h.Owner + writeEnd)}
		}
		return [][]byte{[]byte(h.Owner)}
	}
	hash.Each(func(field, owner []byte) bool {
		value := string(field)
		if string(owner) == h.Owner && !strings.HasSuffix(value, countEnd) && !strings.HasSuffix(value, expiryEnd) {
			of := value + ":" + h.Owner
			fields = append(fields, []byte(value), []byte(of+countEnd), []byte(of+expiryEnd))
		}
		return true
	})
	return fields
}

// readGroup reads the fields of a hash as a multi-lock over a group of values. It reports false
// when a field has another form, or when no owner has a value. An owner is one holder, however
// many values it has. A value whose time is over at now is free.
func readGroup(l *Lock, hash *store.Hash, entries *Entries, now int64) bool {
	valid := true
	owners := map[string]string{} // by value
	hash.Each(func(field, value []byte) bool {
		f := string(field)
		switch {
		case strings.HasSuffix(f, countEnd), strings.HasSuffix(f, expiryEnd):
			_, err := strconv.ParseInt(string(value), 10, 64)
			valid = err == nil
		default:
			owners[f] = string(value)
			valid = isOwner(owners[f])
		}
		return valid
	})
	if !valid {
		return false
	}
	number := func(field string) int64 {
		text, _ := hash.Get([]byte(field))
		n, _ := strconv.ParseInt(string(text), 10, 64)
		return n
	}
	holders := map[string]Holder{}
	for value, owner := range owners {
		field := value + ":" + owner + countEnd
		count, until := number(field), number(value+":"+owner+expiryEnd)
		if count < 1 || until <= now {
			continue
		}
		h, has := holders[owner]
		if !has {
			h = Holder{Owner: owner, By: l.Writer}
		}
		h.Count, h.Deadline = max(h.Count, int(count)), max(h.Deadline, until)
		if entry, ok := entries.Get([]byte(field)); ok {
			h.By = entry.By
			if h.Since == 0 || entry.Since < h.Since {
				h.Since = entry.Since
			}
		}
		holders[owner] = h
	}
	l.Kind, l.Holders = Multi, nil
	for _, h := range holders {
		l.Holders = append(l.Holders, h)
	}
	slices.SortFunc(l.Holders, func(a, b Holder) int { return cmp.Compare(a.Owner, b.Owner) })
	return len(l.Holders) > 0
}
