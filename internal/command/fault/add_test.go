package fault_test

import (
	"strings"
	"testing"
)

func TestAFaultThatIsNotUnderstoodIsNotSet(t *testing.T) {
	s := start(t)
	long := strings.Repeat("*a", 1<<19)
	for line, want := range map[string]string{
		"":                                       "ERR wrong number of arguments for 'fault.add' command",
		"explode":                                "ERR unknown fault 'explode'. Try FAULT HELP.",
		"lose-request COLOUR red":                "ERR syntax error",
		"lose-request COMMAND":                   "ERR syntax error",
		"lose-request KEY ''":                    "ERR syntax error",
		"lose-request COMMAND gte":               "ERR unknown command 'gte'",
		"lose-request COMMAND 'client lust'":     "ERR unknown command 'client lust'",
		"lose-request COMMAND 'get k'":           "ERR unknown command 'get k'",
		"lose-request COMMAND Fault.Clear":       "ERR no fault hits 'fault.clear'",
		"lose-request CHANNEL news":              "ERR CHANNEL is not for lose-request",
		"drop-message COMMAND get":               "ERR COMMAND is not for drop-message",
		"drop-message KEY k":                     "ERR KEY is not for drop-message",
		"delay-message SCRIPT CONTAINS a":        "ERR SCRIPT is not for delay-message",
		"lose-reply FOR 5":                       "ERR FOR is not for lose-reply",
		"mute ERROR 'ERR no'":                    "ERR ERROR is not for mute",
		"fail-request":                           "ERR fail-request needs ERROR",
		"fail-request ERROR ''":                  "ERR syntax error",
		"fail-request ERROR 'ERR a\r\nERR b'":    "ERR ERROR must be one line",
		"stop":                                   "ERR stop needs FOR",
		"stop FOR 0":                             "ERR value is out of range, must be positive",
		"stop FOR -1":                            "ERR value is out of range, must be positive",
		"stop FOR 1.5":                           "ERR value is not an integer or out of range",
		"stop FOR 9223372036855":                 "ERR value is not an integer or out of range",
		"stop FOR 99999999999999999999":          "ERR value is not an integer or out of range",
		"mute NTH 0":                             "ERR value is out of range, must be positive",
		"mute NTH soon":                          "ERR value is not an integer or out of range",
		"mute TIMES -1":                          "ERR value is out of range, must be positive",
		"mute TIMES never":                       "ERR value is not an integer or out of range",
		"mute NTH 1 NTH 1":                       "ERR NTH is given twice",
		"mute TIMES 1 times ALWAYS":              "ERR TIMES is given twice",
		"mute SCRIPT a":                          "ERR SCRIPT needs a SHA1 of 40 hexadecimal digits, or CONTAINS and a text",
		"mute SCRIPT CONTAINS":                   "ERR syntax error",
		"mute SCRIPT " + strings.Repeat("g", 40): "ERR SCRIPT needs a SHA1 of 40 hexadecimal digits, or CONTAINS and a text",
		"mute KEY " + long:                       "ERR KEY is longer than 4096 bytes",
		"mute SCRIPT CONTAINS " + long:           "ERR CONTAINS is longer than 4096 bytes",
		"drop-message CHANNEL " + long:           "ERR CHANNEL is longer than 4096 bytes",
	} {
		s.kits("-"+want+"\r\n", "FAULT.ADD "+line)
	}
	s.kits("*0\r\n", "FAULT.LIST")
	for line, want := range map[string]string{
		"FAULT.RELEASE 1":         "ERR no fault has the id 1",
		"FAULT.RELEASE one":       "ERR value is not an integer or out of range",
		"FAULT.REMOVE one":        "ERR value is not an integer or out of range",
		"FAULT.RELEASE 1 0":       "ERR value is out of range, must be positive",
		"FAULT.RELEASE 1 1 1":     "ERR wrong number of arguments for 'fault.release' command",
		"FAULT.CLEAR 1":           "ERR wrong number of arguments for 'fault.clear' command",
		"FAULT.LIST everything":   "ERR wrong number of arguments for 'fault.list' command",
		"FAULT.REMOVE 9999999999": "",
	} {
		if want == "" {
			s.kits(":0\r\n", line)
		} else {
			s.kits("-"+want+"\r\n", line)
		}
	}
}

func TestAListTellsWhatWasAskedForAndWhatHappened(t *testing.T) {
	s := start(t)
	sha := strings.Repeat("AB", 20)
	s.kits(":1\r\n", "FAULT.ADD HOLD-request COMMAND 'Client List' KEY a* CLIENT orders SCRIPT "+sha+
		" NTH 2 TIMES ALWAYS FOR 9223372036854")
	s.kits(":2\r\n", "FAULT.ADD fail-request script contains 'return 1' TIMES 9223372036854775807 NTH 9223372036854775807 error 'ERR no'")
	s.kits(":3\r\n", "FAULT.ADD drop-message CHANNEL news*")
	names := strings.Fields("id kind command key client script contains channel nth times for error hits held")
	list := s.list()
	for i, values := range []string{
		"1,hold-request,client|list,a*,orders," + strings.ToLower(sha) + ",,,2,-1,9223372036854,,0,0",
		"2,fail-request,,,,,return 1,,9223372036854775807,9223372036854775807,0,ERR no,0,0",
		"3,drop-message,,,,,,news*,1,1,0,,0,0",
	} {
		for j, value := range strings.Split(values, ",") {
			if got, has := list[i][names[j]]; got != value || !has {
				t.Errorf("%s of fault %d is %q, want %q", names[j], i+1, got, value)
			}
		}
		if len(list[i]) != len(names) {
			t.Errorf("fault %d has the fields %v", i+1, list[i])
		}
	}
	s.kits(":1\r\n", "FAULT.REMOVE 2")
	s.kits(":0\r\n", "FAULT.REMOVE 2")
	s.kits(":2\r\n", "FAULT.CLEAR")
	s.kits(":0\r\n", "FAULT.CLEAR")
	s.kits(":4\r\n", "FAULT.ADD mute")
}

func TestTheHelpNamesEveryKind(t *testing.T) {
	s := start(t)
	help := s.kit("FAULT HELP")
	for kind := range strings.FieldsSeq("lose-request hold-request fail-request end-lease stop lose-reply mute " +
		"delay-reply duplicate-reply drop-message delay-message FAULT.ADD FAULT.CLEAR FAULT.LIST FAULT.RELEASE FAULT.REMOVE") {
		if !strings.Contains(help, kind) {
			t.Errorf("FAULT HELP does not name %s", kind)
		}
	}
}
