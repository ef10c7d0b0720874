package vector

import (
	"slices"
	"testing"

	"github.com/lockredis/lockredis/compat_test/wire"
)

func bulk(s string) wire.Value { return wire.Value{Kind: wire.BulkString, Str: []byte(s)} }

func array(elems ...wire.Value) wire.Value { return wire.Value{Kind: wire.Array, Elems: elems} }

func TestMasksHideOnlyWhatTheyName(t *testing.T) {
	const sha = "e0e1f9fabfc9d4800c877a703b823ac0578ff8db"
	one := wire.Value{Kind: wire.Integer, Str: []byte("1")}
	lua := wire.Value{Kind: wire.SimpleError,
		Str: []byte("ERR user_script:3: attempt to x script: " + sha + ", on @user_script:3.")}
	function := wire.Value{Kind: wire.SimpleError,
		Str: []byte("ERR user_function:3: attempt to x script: f, on @user_function:3.")}
	for _, tc := range []struct {
		o    options
		v    wire.Value
		want string
	}{
		{options{}, array(bulk("b"), bulk("a")), `["b" "a"]`},
		{options{sorted: "all"}, array(bulk("b"), bulk("a")), `["a" "b"]`},
		{options{sorted: "pairs"}, array(bulk("b"), bulk("1"), bulk("a"), bulk("2")), `["a" "2" "b" "1"]`},
		{options{sorted: "scan"}, array(bulk("0"), array(bulk("b"), bulk("a"))), `["0" ["a" "b"]]`},
		{options{masks: []string{"int"}}, array(one, bulk("1")), `[:"<int>" "1"]`},
		{options{masks: []string{"lua"}}, lua, "-ERR user_script:3: <lua's words> script: " + sha + ", on @user_script:3."},
		{options{masks: []string{"lua"}}, function, "-ERR user_function:3: <lua's words> script: f, on @user_function:3."},
		{options{fields: []string{"id"}}, array(bulk("id"), one, bulk("x"), one), `["id" :"<masked>" "x" :1]`},
		{options{fields: []string{"id"}}, bulk("id=7 fd=8"), `"id=<masked> fd=8"`},
		{options{fields: []string{"b"}}, bulk("a:1\r\nb:2\r\n"), `"a:1\r\nb:<masked>\r\n"`},
		{options{among: []string{"a", "b"}}, array(bulk("a"), bulk("c")), `["<among>" "c"]`},
	} {
		if got := tc.o.render(tc.v); got != tc.want {
			t.Errorf("%+v: got %s, want %s", tc.o, got, tc.want)
		}
	}
}

func TestMacrosReplaceWholeWords(t *testing.T) {
	for _, tc := range []struct {
		word string
		want []string
	}{
		{"plain", []string{"plain"}},
		{"{map}", []string{"{map}"}},
		{"{a:1}", []string{"{a:1}"}},
		{"{seq:1:3}", []string{"1", "2", "3"}},
		{"{seq:m:1:2}", []string{"m1", "m2"}},
		{"{pairs:m:1:2}", []string{"1", "m1", "2", "m2"}},
		{"{rep:ab*3}", []string{"ababab"}},
		{"{sha1:return 1}", []string{"e0e1f9fabfc9d4800c877a703b823ac0578ff8db"}},
	} {
		got, err := new(Runner).expand(tc.word)
		if err != nil || !slices.Equal(got, tc.want) {
			t.Errorf("%s: got %q, %v", tc.word, got, err)
		}
	}
}
