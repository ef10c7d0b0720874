package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/lockredis/lockredis/internal/keyevent"
	"github.com/lockredis/lockredis/resp"
)

// savePoints takes pairs of seconds and changes. The pairs of several lines of a
// file add up.
func savePoints(in input) (string, error) {
	if in.none() {
		return "", nil
	}
	if len(in.words)%2 != 0 {
		return "", reason("Invalid save parameters")
	}
	for i, w := range in.words {
		n, ok := resp.ParseInt([]byte(w))
		if !ok || n < 0 || n == 0 && i%2 == 0 {
			return "", reason("Invalid save parameters")
		}
	}
	value := strings.Join(in.words, " ")
	if in.again && in.old != "" {
		value = in.old + " " + value
	}
	return value, nil
}

// addresses takes up to 16 addresses, as Redis does. It does not look at their form.
func addresses(in input) (string, error) {
	if len(in.words) > 16 {
		return "", reason("Too many bind addresses specified.")
	}
	if in.none() {
		return "", nil
	}
	return strings.Join(in.words, " "), nil
}

// replicaOf keeps "no one" as "", the value without a master. Every other value is
// refused later, by the row.
func replicaOf(in input) (string, error) {
	if len(in.words) != 2 {
		return "", errWords
	}
	if strings.EqualFold(in.words[0], "no") && strings.EqualFold(in.words[1], "one") {
		return "", nil
	}
	return strings.Join(in.words, " "), nil
}

var classNames = [...]string{NormalClient: "normal", ReplicaClient: "slave", PubSubClient: "pubsub"}

// bufferLimits takes groups of four words: class, hard limit, soft limit, seconds. A
// class without a group keeps its limits. CONFIG SET with an empty value has no
// group and changes nothing.
func bufferLimits(in input) (string, error) {
	if len(in.words)%4 != 0 {
		return "", reason("Wrong number of arguments in buffer limit configuration.")
	}
	limits := limitsOf(in.old)
	for w := in.words; len(w) > 0; w = w[4:] {
		class, ok := classOf(w[0])
		if !ok {
			return "", reason("Invalid client class specified in buffer limit configuration.")
		}
		hard, hardOK := parseMemory(w[1])
		soft, softOK := parseMemory(w[2])
		seconds, ok := resp.ParseInt([]byte(w[3]))
		if !hardOK || !softOK || !ok || seconds < 0 {
			return "", reason("Error in hard, soft or soft_seconds setting " +
				"in buffer limit configuration.")
		}
		limits[class] = OutputLimit{int64(hard), int64(soft), seconds}
	}
	var groups []string
	for i, l := range limits {
		groups = append(groups, fmt.Sprintf("%s %d %d %d",
			classNames[i], uint64(l.Hard), uint64(l.Soft), l.SoftSeconds))
	}
	return strings.Join(groups, " "), nil
}

func classOf(word string) (ClientClass, bool) {
	switch strings.ToLower(word) {
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
		limits[class] = OutputLimit{number(w[1]), number(w[2]), number(w[3])}
	}
	return limits
}

// eventClasses takes letters of event classes and keeps them in Redis's order.
func eventClasses(in input) (string, error) {
	classes, ok := keyevent.Parse(in.words[0])
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

// oomScores takes three numbers, from -2000 to 2000.
func oomScores(in input) (string, error) {
	if len(in.words) != 3 {
		return "", errWords
	}
	for _, w := range in.words {
		if n, ok := resp.ParseInt([]byte(w)); !ok || n < -2000 || n > 2000 {
			return "", reason("Invalid oom-score-adj-values, elements must be between -2000 and 2000.")
		}
	}
	return strings.Join(in.words, " "), nil
}

// percentiles takes any number of percentiles and keeps them in short form.
func percentiles(in input) (string, error) {
	if in.none() {
		return "", nil
	}
	var shown []string
	for _, w := range in.words {
		f, err := strconv.ParseFloat(w, 64)
		if err != nil || math.IsNaN(f) {
			return "", reason("Invalid latency-tracking-info-percentiles parameters")
		}
		if f < 0 || f > 100 {
			return "", reason("latency-tracking-info-percentiles parameters should sit between [0.0,100.0]")
		}
		shown = append(shown, string(resp.AppendFloat(nil, f, 10)))
	}
	return strings.Join(shown, " "), nil
}

// memoryOrPercent takes a size, which is kept in bytes, or a percentage, which stays.
func memoryOrPercent(in input) (string, error) {
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
	n, ok := parseMemory(in.words[0])
	if !ok {
		return "", reason("argument must be a memory or percent value")
	}
	return strconv.FormatUint(n, 10), nil
}

// shutdownOptions takes words in any order and keeps them in the order of Redis.
func shutdownOptions(in input) (string, error) {
	choices := []string{"default", "save", "nosave", "now", "force"}
	given := map[string]bool{}
	for _, w := range in.words {
		if _, err := oneOf(choices...)(input{words: []string{w}}); err != nil {
			return "", err
		}
		given[strings.ToLower(w)] = true
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

func hostName(in input) (string, error) {
	for _, c := range in.words[0] {
		alphanumeric := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !alphanumeric && c != '-' && c != '.' {
			return "", reason("Hostnames may only contain alphanumeric characters, hyphens or dots")
		}
	}
	if len(in.words[0]) >= 256 {
		return "", reason("Hostnames must be less than 256 characters")
	}
	return in.words[0], nil
}

// titleTemplate takes a text with the variables of proc-title-template in braces.
func titleTemplate(in input) (string, error) {
	rest := in.words[0]
	for _, known := range []string{
		"title", "listen-addr", "server-mode", "port", "tls-port", "unixsocket", "config-file",
	} {
		rest = strings.ReplaceAll(rest, "{"+known+"}", "")
	}
	if strings.ContainsAny(rest, "{}") {
		return "", reason("template format is invalid or contains unknown variables")
	}
	return in.words[0], nil
}
