package survey

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// startForConfig starts the servers for the tests of CONFIG SET.
func startForConfig(t *testing.T) (oracle, target *server) {
	t.Helper()
	return start(t, "--enable-protected-configs", "yes", "--loglevel", "warning")
}

// machine are the directives whose values differ between the two processes.
var machine = map[string]bool{"dir": true, "port": true, "unixsocket": true}

func TestConfigGetHasRedissDirectivesWithTheirValues(t *testing.T) {
	oracle, target := startForConfig(t)
	want, names := pairs(oracle.do("CONFIG", "GET", "*"))
	got, all := pairs(target.do("CONFIG", "GET", "*"))
	for _, name := range names {
		if value, ok := got[name]; !ok || value != want[name] && !machine[name] {
			t.Errorf("%s is %q (there: %v), want %q", name, value, ok, want[name])
		}
	}
	var own []string
	for _, name := range all {
		if _, ok := want[name]; !ok {
			own = append(own, name)
		}
	}
	if text := strings.Join(own, " "); text != "cluster-slots control emulate enable-lock-commands exit-with-parent port-file topology" {
		t.Errorf("directives that Redis does not have: %s", text)
	}
	t.Logf("%d names of redis-server compared", len(names))
}

// hostile are values that try every parser: types, ranges, enums, units, lists, C strings.
var hostile = strings.Split("|0|-1|1|2|99|100|101|abc|yes|no|YES|No|yes | 1|1 |0x10|1.5|+5|007|1k|1kb|"+
	"1KB|1m|10mb|1gb|1g|1t|1b|-1kb|50%|101%|-5%|9223372036854775807|9223372036854775808|"+
	"18446744073709551615|18446744073709551616|-9223372036854775808|2147483647|2147483648|"+
	"-2147483648|-2147483649|4294967295|4294967296|65535|65536|1 2|1 2 3|3 2 1|0 +200 800|0  200|"+
	"3001 0 0|slave 1 2 3|normal 1mb 2kb -3|foo 1 2 3|slave 1 2|NORMAL 1gb 2gb 60|replica 1 2 3|"+
	"pubsub 0 0 +3|slave 0 0 3 pubsub 0 0 x|normal 100000  0|slave 1 0 4294967297|slave 1 2 \t3|"+
	"pubsub 0 0 99999999999999999999|slave -1 0 0|master 0 0 0|900 1|900|900 -1|0 5|900 +5|900 5 |"+
	"900 99999999999|99999999999999999999 1|1\t 2|1 2\x00|50 abc|50 101|99.9|0x1p3|1e400|1e-400|"+
	"5.|.5|1_0|0x1_0|infinity|-0|nan|inf|1e2|KEA|KEAx|Ag$lshzxeKEtmdn|KE\x00?|a/b|a\\b|default|"+
	"save nosave|save now|force save|now force default|{title}|{foo}|{title|{{title}}|{{|}|}{|{}|"+
	"{port}|{unixsocket}|{server-mode}|{listen-addr} |{ port}|{PORT}|x{title}|a.b-c|a_b|\x00|a\nb|"+
	"yes\x00no|10\x00x|10%\x00|no\x00|relative\x00x|volatile-lru|noeviction|always|debug|1 yes|777|778|"+
	"1777|-7|8|warning|16384|16383|500|501|1000000|local|resetchannels|127.0.0.1|* -::*|"+
	"a b c d e f g h i j k l m n o p q|/nonexistent|disabled|swapdb|panic|hostname|unknown-endpoint|"+
	"TLSv1.2|\"quoted word\"|'x'|a  b|"+strings.Repeat("x", 255)+"|"+strings.Repeat("x", 256), "|")

// tried reports whether a test sets a directive to a value. It leaves out what lockredis
// refuses (docs/differences.md), and what stops the test itself.
func tried(name, value, present string) bool {
	switch name {
	case "bind", "port", "tls-port", "tls-dh-params-file", "maxmemory-clients", "maxmemory-policy", "dir":
		return value == present // another value is refused
	case "tls-session-caching", "tls-auth-clients":
		return true
	case "maxclients": // redis-server takes minutes for two billion clients
		return len(value) < 7 && value != "1" && value != "2"
	case "client-output-buffer-limit": // Redis does not count a reply of less than 16 KB
		return !strings.HasPrefix(value, "normal 1 ")
	}
	return true
}

func TestConfigSetTakesAndRefusesAsRedis(t *testing.T) {
	oracle, target := startForConfig(t)
	values, names := pairs(oracle.do("CONFIG", "GET", "*"))
	own, _ := pairs(target.do("CONFIG", "GET", "*"))
	sets := 0
	for _, name := range names {
		for _, value := range append([]string{values[name]}, hostile...) {
			if !tried(name, value, values[name]) {
				continue
			}
			mine := value
			if machine[name] && value == values[name] {
				mine = own[name]
			}
			sets++
			want := oracle.do("CONFIG", "SET", name, value).String()
			got := target.do("CONFIG", "SET", name, mine).String()
			if got != want {
				t.Errorf("CONFIG SET %s %q:\n got %s\nwant %s", name, value, got, want)
			}
			want, got = oracle.do("CONFIG", "GET", name).String(), target.do("CONFIG", "GET", name).String()
			if got != want && !machine[name] {
				t.Errorf("CONFIG GET %s after %q:\n got %s\nwant %s", name, value, got, want)
			}
		}
		oracle.do("CONFIG", "SET", name, values[name])
		target.do("CONFIG", "SET", name, own[name])
	}
	t.Logf("%d CONFIG SET of %d directives compared", sets, len(names))
}

// Several directives at once: one that fails undoes all.
func TestConfigSetOfSeveralIsUndoneAsInRedis(t *testing.T) {
	oracle, target := startForConfig(t)
	values, names := pairs(oracle.do("CONFIG", "GET", "*"))
	random := rand.New(rand.NewPCG(1, 2))
	failed := 0
	for range 1500 {
		line := []string{"CONFIG", "SET"}
		for range 1 + random.IntN(4) {
			name := names[random.IntN(len(names))]
			value := values[name]
			if other := hostile[random.IntN(len(hostile))]; random.IntN(3) == 0 && tried(name, other, value) {
				value = other
			}
			if machine[name] || name == "requirepass" || name == "client-output-buffer-limit" {
				continue
			}
			if random.IntN(20) == 0 {
				name += "x"
			}
			line = append(line, name, value)
		}
		want, got := oracle.do(line...), target.do(line...)
		if got.String() != want.String() {
			t.Errorf("%q:\n got %s\nwant %s", line, got, want)
		}
		if want.IsError() {
			failed++
		}
	}
	want, _ := pairs(oracle.do("CONFIG", "GET", "*"))
	got, _ := pairs(target.do("CONFIG", "GET", "*"))
	for _, name := range names {
		if got[name] != want[name] && !machine[name] {
			t.Errorf("%s is %q in the end, want %q", name, got[name], want[name])
		}
	}
	t.Logf("1500 CONFIG SET of several directives compared, %d of them fail", failed)
}
