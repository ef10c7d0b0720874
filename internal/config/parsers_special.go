package config

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/lockredis/lockredis/internal/keyevent"
	"github.com/lockredis/lockredis/resp"
)

// parseSavePoints takes pairs of seconds and changes. The pairs of several lines of a
// file add up. The numbers are read as C's strtoll reads them.
func parseSavePoints(in input) (string, error) {
	if in.none() || len(in.words) == 1 && cString(in.words[0]) == "" {
		return "", nil
	}
	if len(in.words)%2 != 0 {
		return "", reason("Invalid save parameters")
	}
	points := make([]string, len(in.words))
	for i, w := range in.words {
		n, ok := decimal(w)
		if !ok || n < 0 || n == 0 && i%2 == 0 {
			return "", reason("Invalid save parameters")
		}
		if i%2 == 1 {
			n = int64(int32(n)) // Redis keeps the changes in an int
		}
		points[i] = strconv.FormatInt(n, 10)
	}
	value := strings.Join(points, " ")
	if in.again && in.old != "" {
		value = in.old + " " + value
	}
	return value, nil
}

// strtoll reads a number as C does: it skips white space, takes a sign, and keeps a number
// beyond int64 at the bound. An empty word is 0. err is strconv.ErrRange for a number beyond
// int64, and another error when other bytes follow the number.
func strtoll(word string, base int) (n int64, err error) {
	word = cString(word)
	if word == "" {
		return 0, nil
	}
	n, err = strconv.ParseInt(strings.TrimLeft(word, " \t\n\v\f\r"), base, 64)
	if errors.Is(err, strconv.ErrRange) {
		err = strconv.ErrRange
	}
	return n, err
}

// decimal reads a decimal number as C's strtoll does. ok is false when other bytes follow the
// number.
func decimal(word string) (n int64, ok bool) {
	n, err := strtoll(word, 10)
	return n, err == nil || err == strconv.ErrRange
}

// parseAddresses takes up to 16 addresses, as Redis does. It does not look at their form.
func parseAddresses(in input) (string, error) {
	if len(in.words) > 16 {
		return "", reason("Too many bind addresses specified.")
	}
	if in.none() {
		return "", nil
	}
	words := make([]string, len(in.words))
	for i, w := range in.words {
		words[i] = cString(w)
	}
	return strings.Join(words, " "), nil
}

// parseReplicaOf takes a master's host and port. It keeps "no one" as "", the value without a master.
func parseReplicaOf(in input) (string, error) {
	if len(in.words) != 2 {
		return "", errWords
	}
	if strings.EqualFold(in.words[0], "no") && strings.EqualFold(in.words[1], "one") {
		return "", nil
	}
	if port, err := strtoll(in.words[1], 10); err != nil || port < 0 || port > 65535 {
		return "", reason("Invalid master port")
	}
	return strings.Join(in.words, " "), nil
}

// primaryOf cuts a value of replicaof.
func primaryOf(value string) (host string, port int) {
	if value == "" {
		return "", 0
	}
	host, digits, _ := strings.Cut(value, " ")
	n, _ := strtoll(digits, 10)
	return host, int(n)
}

var classNames = [...]string{NormalClient: "normal", ReplicaClient: "slave", PubSubClient: "pubsub"}

// parseBufferLimits takes groups of four words: class, hard limit, soft limit, seconds. A
// class without a group keeps its limits. CONFIG SET with an empty value has no
// group and changes nothing.
func parseBufferLimits(in input) (string, error) {
	if len(in.words)%4 != 0 {
		return "", reason("Wrong number of arguments in buffer limit configuration.")
	}
	limits := limitsOf(in.old)
	for w := in.words; len(w) > 0; w = w[4:] {
		class, ok := classOf(w[0])
		if !ok {
			return "", reason("Invalid client class specified in buffer limit configuration.")
		}
		hard, hardOK := ParseMemory(w[1])
		soft, softOK := ParseMemory(w[2])
		seconds, ok := decimal(w[3])
		seconds = int64(int32(seconds)) // Redis keeps them in an int
		if !hardOK || !softOK || !ok || seconds < 0 {
			return "", reason("Error in hard, soft or soft_seconds setting " +
				"in buffer limit configuration.")
		}
		limits[class] = OutputLimit{hard, soft, seconds}
	}
	var groups []string
	for i, l := range limits {
		groups = append(groups, fmt.Sprintf("%s %d %d %d",
			classNames[i], l.Hard, l.Soft, l.SoftSeconds))
	}
	return strings.Join(groups, " "), nil
}

func classOf(word string) (ClientClass, bool) {
	switch strings.ToLower(cString(word)) {
	case "normal":
		return NormalClient, true
	case "slave", "replica":
		return ReplicaClient, true
	case "pubsub":
		return PubSubClient, true
	}
	return 0, false
}

// limitsOf reads a checked client-output-buffer-limit.
func limitsOf(value string) (limits [3]OutputLimit) {
	for w := strings.Fields(value); len(w) >= 4; w = w[4:] {
		class, _ := classOf(w[0])
		limits[class] = OutputLimit{bytes(w[1]), bytes(w[2]), number(w[3])}
	}
	return limits
}

// parseEventClasses takes letters of event classes and keeps them in Redis's order.
func parseEventClasses(in input) (string, error) {
	classes, ok := keyevent.Parse(cString(in.words[0]))
	if !ok {
		return "", reason("Invalid event class character. Use 'Ag$lshzxeKEtmdn'.")
	}
	return classes.String(), nil
}

// hideNewKey leaves out n when A is there. Redis shows it so, too, although both
// classes are in force.
func hideNewKey(value string) string {
	if strings.HasPrefix(value, "A") {
		return strings.TrimSuffix(value, "n")
	}
	return value
}

// parseOomScores takes three numbers, from -2000 to 2000.
func parseOomScores(in input) (string, error) {
	if len(in.words) != 3 {
		return "", errWords
	}
	scores := make([]string, len(in.words))
	for i, w := range in.words {
		n, ok := decimal(w)
		if !ok || n < -2000 || n > 2000 {
			return "", reason("Invalid oom-score-adj-values, elements must be between -2000 and 2000.")
		}
		scores[i] = strconv.FormatInt(n, 10)
	}
	return strings.Join(scores, " "), nil
}

// parsePercentiles takes any number of percentiles and keeps them in short form.
func parsePercentiles(in input) (string, error) {
	if in.none() {
		return "", nil
	}
	var shown []string
	for _, w := range in.words {
		f, ok := percentile(w)
		if !ok {
			return "", reason("Invalid latency-tracking-info-percentiles parameters")
		}
		if f < 0 || f > 100 {
			return "", reason("latency-tracking-info-percentiles parameters should sit between [0.0,100.0]")
		}
		shown = append(shown, string(resp.AppendFloat(nil, f, 10)))
	}
	return strings.Join(shown, " "), nil
}

// percentilesOf reads a value of latency-tracking-info-percentiles.
func percentilesOf(v string) (list []float64) {
	for _, word := range strings.Fields(v) {
		p, _ := percentile(word)
		list = append(list, p)
	}
	return list
}

// percentile parses a number as C's strtod does. A number that a double cannot hold
// exactly enough is none.
func percentile(word string) (f float64, ok bool) {
	lower := strings.ToLower(word)
	if strings.Contains(word, "_") {
		return 0, false
	}
	if strings.HasPrefix(strings.TrimLeft(lower, "+-"), "0x") && !strings.Contains(lower, "p") {
		word += "p0"
	}
	f, err := strconv.ParseFloat(word, 64)
	subnormal := f != 0 && math.Abs(f) < 0x1p-1022
	lost := f == 0 && strings.Trim(strings.Split(lower, "e")[0], "+-0.xp") != ""
	return f, err == nil && !math.IsNaN(f) && !subnormal && !lost
}

// parseOomMode takes the modes of oom-score-adj. "relative" is another name of "yes".
func parseOomMode(in input) (string, error) {
	value, err := oneOf("no", yes, "relative", "absolute").check(in)
	if value == "relative" {
		value = yes
	}
	return value, err
}

// parseMemoryOrPercent takes a size, which is kept in bytes, or a percentage, which stays.
func parseMemoryOrPercent(in input) (string, error) {
	if percent, ok := strings.CutSuffix(in.words[0], "%"); ok {
		n, isInt := resp.ParseInt([]byte(percent))
		switch {
		case !isInt || n < 0:
			return "", reason("argument must be a memory or percent value")
		case n > 100:
			return "", reason("percentage argument must be less or equal to 100")
		}
		return in.words[0], nil
	}
	n, ok := ParseMemory(in.words[0])
	if !ok {
		return "", reason("argument must be a memory or percent value")
	}
	return strconv.FormatUint(n, 10), nil
}

// parseShutdownOptions takes words in any order and keeps them in the order of Redis.
func parseShutdownOptions(in input) (string, error) {
	choices := []string{"default", "save", "nosave", "now", "force"}
	given := map[string]bool{}
	for _, w := range in.words {
		if _, err := oneOf(choices...).check(input{words: []string{w}}); err != nil {
			return "", err
		}
		given[strings.ToLower(cString(w))] = true
	}
	if len(in.words) == 0 {
		return "", errNotOneOf(choices)
	}
	if given["save"] && given["nosave"] {
		return "", reason("shutdown options SAVE and NOSAVE can't be used simultaneously")
	}
	if len(given) > 1 {
		delete(given, "default")
	}
	var shown []string
	for _, c := range choices {
		if given[c] {
			shown = append(shown, c)
		}
	}
	return strings.Join(shown, " "), nil
}

func parseHostName(in input) (string, error) {
	name := cString(in.words[0])
	for _, c := range name {
		alphanumeric := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !alphanumeric && c != '-' && c != '.' {
			return "", reason("Hostnames may only contain alphanumeric characters, hyphens or dots")
		}
	}
	if len(name) >= 256 {
		return "", reason("Hostnames must be less than 256 characters")
	}
	return name, nil
}

const errTitle = reason("template format is invalid or contains unknown variables")

// parseTitleTemplate takes a text with the variables of proc-title-template in braces. Two
// opening braces stand for one. The title that comes out must not be empty. While Redis
// checks a template, {title} is empty.
func parseTitleTemplate(in input) (string, error) {
	template := cString(in.words[0])
	empty := map[string]bool{
		"title": true, "listen-addr": false, "port": false, "tls-port": false, "config-file": false,
		"server-mode": in.value("cluster-enabled") != yes, "unixsocket": in.value("unixsocket") == "",
	}
	filled := false
	for rest := template; rest != ""; {
		literal, after, braced := strings.Cut(rest, "{")
		filled = filled || strings.Trim(literal, " ") != ""
		if !braced {
			break
		}
		if strings.HasPrefix(after, "{") {
			filled, rest = true, after[1:]
			continue
		}
		name, behind, closed := strings.Cut(after, "}")
		none, known := empty[name]
		if !closed || !known {
			return "", errTitle
		}
		filled, rest = filled || !none, behind
	}
	if !filled {
		return "", errTitle
	}
	return template, nil
}
