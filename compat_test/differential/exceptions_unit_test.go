package differential

import (
	"net"
	"testing"

	"github.com/lockredis/lockredis/compat_test/wire"
)

// parse reads one reply from its bytes.
func parse(t *testing.T, raw string) wire.Value {
	t.Helper()
	near, far := net.Pipe()
	defer near.Close()
	go func() {
		_, _ = far.Write([]byte(raw))
		far.Close()
	}()
	v, err := wire.NewConn(near).Receive()
	if err != nil {
		t.Fatalf("%q: %v", raw, err)
	}
	return v
}

func TestExceptionAllowsOnlyTheDifferenceThatItNames(t *testing.T) {
	const (
		ab, ba  = "*2\r\n$1\r\na\r\n$1\r\nb\r\n", "*2\r\n$1\r\nb\r\n$1\r\na\r\n"
		aa, abc = "*2\r\n$1\r\na\r\n$1\r\na\r\n", "*3\r\n$1\r\na\r\n$1\r\nb\r\n$1\r\nc\r\n"
		x       = "*1\r\n$1\r\nx\r\n"
		table   = "$9\r\nhashtable\r\n"
		pack    = "$8\r\nlistpack\r\n"
	)
	for _, c := range []struct {
		name           string
		args           []string
		probes         []string
		oracle, target string
		want           bool
	}{
		{"another order of a hash table", []string{"SMEMBERS", "t"}, []string{table}, ab, ba, true},
		{"another order of something compact", []string{"SMEMBERS", "t"}, []string{pack}, ab, ba, false},
		{"another member", []string{"SMEMBERS", "t"}, []string{table}, ab, aa, false},
		{"another pick", []string{"SRANDMEMBER", "t"}, []string{table, ab}, "$1\r\na\r\n", "$1\r\nb\r\n", true},
		{"a pick that is not there", []string{"SRANDMEMBER", "t"}, []string{table, ab}, "$1\r\na\r\n", "$1\r\nx\r\n", false},
		{"other picks", []string{"SRANDMEMBER", "t", "2"}, []string{table, abc}, ab, ba, true},
		{"the same pick twice", []string{"SRANDMEMBER", "t", "2"}, []string{table, abc}, ab, aa, false},
		{"the same pick twice where that is allowed", []string{"SRANDMEMBER", "t", "-2"}, []string{table, abc}, ab, aa, true},
		{"fewer picks", []string{"SRANDMEMBER", "t", "2"}, []string{table, abc}, ab, x, false},
		{"everything, and compact, in another order", []string{"SRANDMEMBER", "t", "2"}, []string{pack, ab}, ab, ba, false},
		{"a deadline 20 ms off", []string{"PEXPIRETIME", "k"}, nil, ":1000\r\n", ":1020\r\n", true},
		{"a deadline 21 ms off", []string{"PEXPIRETIME", "k"}, nil, ":1000\r\n", ":1021\r\n", false},
		{"a deadline and none", []string{"PEXPIRETIME", "k"}, nil, ":1\r\n", ":-1\r\n", false},
		{"another cursor", []string{"SSCAN", "t", "0"}, []string{table}, "*2\r\n$1\r\n5\r\n" + ab, "*2\r\n$1\r\n6\r\n" + x, true},
		{"another content of a scan of everything", []string{"SSCAN", "t", "0"}, []string{table}, "*2\r\n$1\r\n0\r\n" + ab, "*2\r\n$1\r\n0\r\n" + x, false},
		{"another time of delivery", []string{"DUMP", "x"}, nil, "$16\r\n\x13abcdefgCHECKSUM\r\n", "$16\r\n\x13aBCDefgchecksum\r\n", true},
		{"another entry of a stream", []string{"DUMP", "x"}, nil, "$16\r\n\x13abcdefgCHECKSUM\r\n", "$16\r\n\x13aBCDEfgchecksum\r\n", false},
		{"another order of a list", []string{"LRANGE", "l", "0", "-1"}, nil, ab, ba, false},
		{"another error", []string{"SMEMBERS", "t"}, []string{table}, "-ERR a\r\n", "-ERR b\r\n", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var probes []wire.Value
			for _, p := range c.probes {
				probes = append(probes, parse(t, p))
			}
			e := emission{args: c.args, inv: &invocation{args: c.args}}
			got := e.same(comparison{args: c.args, oracle: parse(t, c.oracle), target: parse(t, c.target),
				probes: probes})
			if got != c.want {
				t.Errorf("the same: %t, want %t", got, c.want)
			}
		})
	}
}

func TestOnlyLuasOwnMessageIsMasked(t *testing.T) {
	const (
		sha   = "93b21496134e25d14acc217e82ee755627640c04"
		frame = "-ERR user_script:3: attempt to index a nil value script: " + sha +
			", on @user_script:3.\r\n"
	)
	for _, c := range []struct {
		name, other string
		want        bool
	}{
		{"the sentence", "-ERR user_script:3: x is no table script: " + sha + ", on @user_script:3.\r\n", true},
		{"the line", "-ERR user_script:4: attempt to index a nil value script: " + sha + ", on @user_script:3.\r\n", false},
		{"the line at the end", "-ERR user_script:3: attempt to index a nil value script: " + sha + ", on @user_script:4.\r\n", false},
		{"the class", "-OOPS user_script:3: attempt to index a nil value script: " + sha + ", on @user_script:3.\r\n", false},
		{"the sha", "-ERR user_script:3: attempt to index a nil value script: " + "0" + sha[1:] + ", on @user_script:3.\r\n", false},
		{"the frame", "-ERR attempt to index a nil value script: " + sha + ", on @user_script:3.\r\n", false},
		{"the end", "-ERR user_script:3: attempt to index a nil value\r\n", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := emission{args: []string{"EVAL", "x", "0"},
				inv: &invocation{args: []string{"EVAL", "x", "0"}, luaText: true}}
			got := e.same(comparison{args: e.args, oracle: parse(t, frame), target: parse(t, c.other)})
			if got != c.want {
				t.Errorf("the same: %t, want %t", got, c.want)
			}
			e.inv.luaText = false
			if e.same(comparison{args: e.args, oracle: parse(t, frame), target: parse(t, c.other)}) {
				t.Error("masked in a script whose error has no message of Lua's own")
			}
		})
	}
}

func TestSequenceIsMinimizedToTheStepsThatFail(t *testing.T) {
	var s sequence
	for i := range 40 {
		s.steps = append(s.steps, step{items: []invocation{{args: []string{"SET", decimal(i), "v"}}}})
	}
	holds := func(s sequence, k string) bool {
		for _, st := range s.steps {
			if st.items[0].args[1] == k {
				return true
			}
		}
		return false
	}
	s = minimize(s, func(c sequence) bool {
		for _, st := range c.steps {
			if len(st.items[0].args) != 3 {
				return false
			}
		}
		return holds(c, "7") && holds(c, "31")
	})
	if len(s.steps) != 2 {
		t.Errorf("%d steps are left, want 2:%#v", len(s.steps), s)
	}
}
