package inspect

import (
	"encoding/base64"
	"strings"
	"unicode/utf8"

	"github.com/lockredis/lockredis/store"
)

// set returns the locks of Kind Set, in no order.
func (v View) set() (locks []Lock) {
	v.state.NewStrings(func(n NewString) {
		db := v.state.Space().DB(n.DB)
		e := db.Peek([]byte(n.Key))
		if e == nil || !e.HasDeadline() {
			return
		}
		s, ok := e.Value().(*store.String)
		if !ok || string(s.Bytes(nil)) != n.Value {
			return
		}
		locks = append(locks, Lock{
			DB: n.DB, Name: n.Key, Kind: Set, Deadline: db.Deadline(e), Writer: n.By,
			Holders: []Holder{{
				Owner: n.Value, Count: 1, Deadline: db.Deadline(e), Since: n.Since, By: n.By,
			}},
		})
	})
	return locks
}

// tokenBytes is how many random bytes redislock's and redsync's tokens have, and the ids of
// permits.
const tokenBytes = 16

// IsToken reports whether a value looks like a random token that nothing else would be: a UUID,
// at least 32 hexadecimal digits, 16 bytes in base64, or 16 to 32 bytes that are no text, as
// rueidislock writes them. Behind base64 without padding redislock may write metadata.
func IsToken(s string) bool {
	switch {
	case isUUID(s), isBase64(s, base64.StdEncoding), isBase64(s, base64.RawURLEncoding):
		return true
	case len(s) >= 2*tokenBytes && strings.Trim(s, "0123456789abcdefABCDEF") == "":
		return true
	}
	return len(s) >= tokenBytes && len(s) <= 2*tokenBytes && !utf8.ValidString(s)
}

// isBase64 reports whether s begins with tokenBytes in base64 that look random: with letters in
// both cases and with digits or signs. It may be longer only without padding.
func isBase64(s string, in *base64.Encoding) bool {
	n := in.EncodedLen(tokenBytes)
	if len(s) < n || len(s) > n && in == base64.StdEncoding {
		return false
	}
	if _, err := in.DecodeString(s[:n]); err != nil {
		return false
	}
	has := func(set string) bool { return strings.ContainsAny(s[:n], set) }
	return has("ABCDEFGHIJKLMNOPQRSTUVWXYZ") && has("abcdefghijklmnopqrstuvwxyz") &&
		has("0123456789+/-_=")
}
