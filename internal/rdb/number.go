package rdb

import (
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/lockredis/lockredis/store"
)

// numberStart matches what C's strtod reads of a text.
var numberStart = regexp.MustCompile(`(?i)^[ \t\n\v\f\r]*([+-]?(?:` +
	`0x(?:[0-9a-f]+\.?[0-9a-f]*|\.[0-9a-f]+)(?:p[+-]?[0-9]+)?|` +
	`(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|inf(?:inity)?|nan))`)

// number returns the number that text begins with. ok is false if there is none. A number that
// is too large is infinite.
func number(text []byte) (f float64, ok bool) {
	if f, ok = store.ParseFloat(text); ok {
		return f, true
	}
	found := numberStart.FindSubmatch(text)
	if found == nil {
		return 0, false
	}
	s := strings.ToLower(string(found[1]))
	if strings.HasSuffix(s, "nan") {
		return math.NaN(), true
	}
	if strings.Contains(s, "0x") && !strings.Contains(s, "p") {
		s += "p0" // Go demands an exponent, C does not
	}
	f, _ = strconv.ParseFloat(s, 64)
	return f, true
}
