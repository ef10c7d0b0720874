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
		if l, ok := v.setAt(n); ok {
			locks = append(locks, l)
		}
	})
	return locks
}

// setAt reads the lock of Kind Set under a key. ok is false when the key holds no such lock.
func (v View) setAt(n NewString) (l Lock, ok bool) {
	db := v.state.Space().DB(n.DB)
	e := db.Peek([]byte(n.Key))
	if e == nil || !e.HasDeadline() && !n.Named && !namesLock(n.Key) {
		return l, false
	}
	s, ok := e.Value().(*store.String)
	if !ok || string(s.Bytes(nil)) != n.Value {
		return l, false
	}
	return Lock{
		DB: n.DB, Name: n.Key, Kind: Set, Deadline: db.Deadline(e), Writer: n.By,
		Holders: []Holder{{
			Owner: n.Value, Count: 1, Deadline: db.Deadline(e), Since: n.Since, By: n.By,
		}},
	}, true
}

// tokenBytes is how many random bytes redislock's and redsync's tokens have, and the ids of
// permits.
const tokenBytes = 16

const hexDigits = "0123456789abcdefABCDEF"

// IsToken reports whether a value looks like a random token that nothing else would be: a UUID,
// at least 32 hexadecimal digits, 16 bytes in base64, a ULID, an xid, a nanoid, or 16 to 32 bytes
// that are no text, as rueidislock writes them. Behind base64 without padding redislock may write
// metadata, which must not begin as base64 would go on.
func IsToken(s string) bool {
	switch {
	case len(s) < tokenBytes:
		return false
	case isUUID(s), isULID(s), isXID(s), isNanoID(s),
		isPaddedBase64(s), isRawBase64(s):
		return true
	case len(s) >= 2*tokenBytes && only(s, hexDigits):
		return true
	}
	return len(s) <= 2*tokenBytes && !utf8.ValidString(s)
}

// isPaddedBase64 reports whether s is tokenBytes in base64 that are no text, as redsync writes
// them. The padding tells them from words.
func isPaddedBase64(s string) bool {
	text, padded := strings.CutSuffix(s, "==")
	b, ok := decodeBase64(text)
	return padded && ok && !utf8.Valid(b)
}

// isRawBase64 reports whether s begins with tokenBytes in base64 that look random, and ends there. In
// a URL's base64, which redislock uses, it may go on with what is no digit of that.
func isRawBase64(s string) bool {
	n := base64.RawStdEncoding.EncodedLen(tokenBytes)
	switch {
	case len(s) < n, s[n:] == "==": // with padding: see isPaddedBase64
		return false
	case len(s) > n && (only(s[n:n+1], upperCase+lowerCase+digits+"-_") || strings.ContainsAny(s[:n], "+/")):
		return false
	}
	_, ok := decodeBase64(s[:n])
	return ok && looksRandom(s[:n])
}

// decodeBase64 returns the tokenBytes that s is in base64 without padding, in one of its alphabets.
func decodeBase64(s string) (b []byte, ok bool) {
	coding := base64.RawStdEncoding
	if strings.ContainsAny(s, "-_") {
		coding = base64.RawURLEncoding
	}
	b, err := coding.DecodeString(s)
	return b, err == nil && len(b) == tokenBytes
}

// isNanoID reports whether s is a nanoid of the usual length, which is 21 characters.
func isNanoID(s string) bool {
	return len(s) == 21 && only(s, digits+lowerCase+upperCase+"_-") && looksRandom(s)
}

// isULID reports whether s is a ULID: 26 digits of base 32 without I, L, O and U. The first one is
// 0 until the year 3084.
func isULID(s string) bool {
	const upper = digits + "ABCDEFGHJKMNPQRSTVWXYZ"
	return len(s) == 26 && s[0] == '0' && strings.ContainsAny(s, lowerCase+upperCase) &&
		(only(s, upper) || only(s, strings.ToLower(upper)))
}

// isXID reports whether s is an xid: 12 bytes as 20 digits of base 32. The last digit has one bit.
func isXID(s string) bool {
	return len(s) == 20 && only(s, digits+"abcdefghijklmnopqrstuv") && strings.Contains("0g", s[19:]) &&
		strings.ContainsAny(s[:19], "ghijklmnopqrstuv") && changes(s)+unusualPairs(s) >= 4
}

const (
	digits    = "0123456789"
	lowerCase = "abcdefghijklmnopqrstuvwxyz"
	upperCase = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

// only reports whether s has only characters of set.
func only(s, set string) bool { return strings.Trim(s, set) == "" }

// looksRandom reports whether 21 or 22 characters look random. They have letters in both cases. Nine
// of them or more begin another part, or are letters that rarely follow the letter before. Of random
// texts of 21 characters, 1 in 2,000 does not look so. Of names such as OrderServiceHandlerV2, 1 in 400
// does.
func looksRandom(s string) bool {
	return strings.ContainsAny(s, upperCase) && strings.ContainsAny(s, lowerCase) &&
		changes(s)+unusualPairs(s) >= 9
}

// changes counts where a word, an abbreviation in capitals or a number begins in s, behind its first
// character. A word may begin with a capital. Signs stand between the parts.
func changes(s string) (n int) {
	for i := 1; i < len(s); i++ {
		before, after := class(s[i-1]), class(s[i])
		if after != before && after != "" && (before != upperCase || after != lowerCase) {
			n++
		}
	}
	return n
}

// followers has, for each letter from a to z, the letters that often follow it in a word. They are the
// 250 most frequent pairs in the names of Java's classes and in the docs.
var followers = [...]string{
	"bcdfgilmnprstuvwxy", "aceijlosuy", "acehiklorstuy", "aeiklorsu", "abcdefglmnpqrstvwxy", // a to e
	"aefiloru", "aeginru", "aeiort", "abcdefglmnoprstvz", "adev", "ei", "adeilostuv", // f to l
	"abeilmopsu", "acdefgiknostuv", "abcdfgklmnoprstuvw", "aehiloprstu", "u", // m to q
	"acdegimnorstuvy", "acefhiklopstuwy", "acehimoprstuy", "bcegilmnprst", // r to u
	"aeim", "aeirt", "cempst", "np", "e", // v to z
}

// unusualPairs counts the letters of s that rarely follow the letter before in a word.
func unusualPairs(s string) (n int) {
	for i := 1; i < len(s); i++ {
		before, after := class(s[i-1]), class(s[i])
		if before != upperCase && before != lowerCase || after != lowerCase && after != before {
			continue // not two letters of a word
		}
		const toLower = 'a' - 'A'
		if strings.IndexByte(followers[(s[i-1]|toLower)-'a'], s[i]|toLower) < 0 {
			n++
		}
	}
	return n
}

func class(c byte) string {
	for _, set := range []string{digits, lowerCase, upperCase} {
		if strings.IndexByte(set, c) >= 0 {
			return set
		}
	}
	return ""
}

// namesLock reports whether a key's name says that it is a lock. Then a token without a TTL is a
// holder. In another key it may be an id that is set once.
func namesLock(key string) bool {
	key = strings.ToLower(key)
	return strings.Contains(key, "lock") || strings.Contains(key, "mutex")
}

// Process is a process whose clients may put its name into locks.
type Process struct {
	Host string // "": unknown
	PID  string
}

// Wrote reports whether a value names the process: "<host>:<pid>" or with another separator, and
// perhaps more behind it.
func (p Process) Wrote(value string) bool {
	if p.Host == "" {
		return false
	}
	host, _, _ := strings.Cut(p.Host, ".")
	for _, name := range []string{p.Host, host} {
		rest, ok := strings.CutPrefix(value, name)
		if !ok || name == "" || len(rest) < 2 || !strings.ContainsAny(rest[:1], ":-_@/.#| ") {
			continue
		}
		rest, ok = strings.CutPrefix(rest[1:], p.PID)
		if ok && (rest == "" || !strings.ContainsAny(rest[:1], digits)) {
			return true
		}
	}
	return false
}
