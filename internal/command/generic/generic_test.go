package generic_test

import (
	"fmt"
	"maps"
	"testing"

	"github.com/lockredis/lockredis/internal/command/commandtest"
	"github.com/lockredis/lockredis/resp"
)

// The replies in this file are from redis-server 7.0.15.

func TestExpireSetsTheDeadlineUnderConditions(t *testing.T) {
	h := commandtest.New(t)
	h.Check(`
		set k v => +OK
		expire k 10 foo => -ERR Unsupported option foo
		expire k x foo => -ERR Unsupported option foo
		expire k x => -ERR value is not an integer or out of range
		expire k 9223372036854775807 => -ERR invalid expire time in 'expire' command
		expire k -9223372036854775808 => -ERR invalid expire time in 'expire' command
		pexpire nokey 9223372036854775807 => -ERR invalid expire time in 'pexpire' command
		expire k 10 nx xx => -ERR NX and XX, GT or LT options at the same time are not compatible
		expire k 10 gt lt => -ERR GT and LT options at the same time are not compatible
		expire k 10 gt => :0
		expire k 10 xx => :0
		expire k 100 nx => :1
		expire k 100 nx => :0
		expire k 100 gt => :0
		expire k 101 gt => :1
		expire k 101 lt => :0
		expire k 100 lt xx => :1
		ttl k => :100
		pttl k => :100000
		expiretime k => :1100
		pexpiretime k => :1100000
		persist k => :1
		persist k => :0
		ttl k => :-1
		ttl nokey => :-2
		pexpireat k 9223372036854775807 => :1
	`)
	h.Check(`expire k -1 => :1 => del k`)
}

func TestRenameCopyAndMoveKeepTheDeadline(t *testing.T) {
	h := commandtest.New(t)
	h.Check(`
		set a 1 => +OK
		pexpire a 5000 => :1
		set b 2 => +OK
	`)
	h.Check(`
		rename a b => +OK => new b, rename_from a, rename_to b
		pttl b => :5000 => no events
		rename nokey b => -ERR no such key => no events
		rename b b => +OK => no events
		renamenx b b => :0 => no events
		renamenx b c => :1 => new c, rename_from b, rename_to c
		copy c d => :1 => new d, copy_to d
		copy c d => :0 => no events
		copy c d replace => :1 => new d, copy_to d
		copy c c => -ERR source and destination objects are the same => no events
		copy c x db 99 => -ERR DB index is out of range => no events
		copy c x db => -ERR syntax error => no events
		pttl d => :5000 => no events
		move d 1 => :1 => new d, move_from d, move_to d
		move c 0 => -ERR source and destination objects are the same => no events
		move c x => -ERR value is not an integer or out of range => no events
		move nokey 1 => :0 => no events
		unlink c nokey => :1 => del c
	`)
}

func TestScanArgumentsAreCheckedAsInRedis(t *testing.T) {
	commandtest.New(t).Check(`
		scan x => -ERR invalid cursor
		scan 18446744073709551616 => -ERR invalid cursor
		scan 0 count 0 => -ERR syntax error
		scan 0 count x => -ERR value is not an integer or out of range
		scan 0 count => -ERR syntax error
		scan 0 foo x => -ERR syntax error
		scan -1 => *2 $1 0 *0
		scan +1 => *2 $1 0 *0
		set k v => +OK
		scan 0 match * count 10 type STRING => *2 $1 0 *1 $1 k
		scan 0 type hash => *2 $1 0 *0
	`)
}

func TestSortOrdersByElementsAndByPatterns(t *testing.T) {
	h := commandtest.New(t)
	h.Check(`
		rpush l 3 1 2 x1 => :4
		sort l => -ERR One or more scores can't be converted into double
		sort l alpha desc => *4 $2 x1 $1 3 $1 2 $1 1
		sort l by nosort desc => *4 $2 x1 $1 2 $1 1 $1 3
		sort l by nosort desc limit 1 2 => *2 $1 2 $1 1
		sort l alpha limit 1 2 => *2 $1 2 $1 3
		sort l alpha limit -5 2 => *2 $1 1 $1 2
		sort l alpha limit 10 2 => *0
		sort l limit x 1 => -ERR value is not an integer or out of range
		sort l limit 0 => -ERR syntax error
		sort_ro l alpha store x => -ERR syntax error
		sort l by w_* => *4 $1 1 $1 2 $1 3 $2 x1
		mset w_1 30 w_2 20 w_3 10 w_x1 5 => +OK
		sort l by w_* store dst => :4
		lrange dst 0 -1 => *4 $2 x1 $1 3 $1 2 $1 1
		sort l by w_* get w_* get # store dst => :8
		sort l by w_* limit 10 10 store dst => :0
		exists dst => :0
		hset h_1 f 2 g gg => :2
		hset h_2 f 1 => :1
		sort l by h_*->f get h_*->g => *4 $-1 $-1 $-1 $2 gg
		zadd z 3 a 1 b 2 c 5 d => :4
		sort z by nosort desc limit 1 2 => *2 $1 a $1 c
		sadd s b a c => :3
		sort s by nosort store dst => :3
		lrange dst 0 -1 => *3 $1 a $1 b $1 c
		rpush n 1e3 0x10 inf -5 -inf => :5
		sort n => *5 $4 -inf $2 -5 $4 0x10 $3 1e3 $3 inf
		set str x => +OK
		sort str => -WRONGTYPE Operation against a key holding the wrong kind of value
	`)
}

func TestCommandSubcommandsAnswerAsRedis(t *testing.T) {
	h := commandtest.New(t)
	h.Ctx.Proto = 3
	h.Check(`command info get nope => *2 *10 $3 get :2 ~2 +readonly +fast :1 :1 :1 ~3 +@read +@string +@fast ~0 ~1 %3 $5 flags ~2 +RO +access $12 begin_search %2 $4 type $5 index $4 spec %1 $5 index :1 $9 find_keys %2 $4 type $5 range $4 spec %3 $7 lastkey :0 $7 keystep :1 $5 limit :0 ~0 _`)
	h.Check(`
		command getkeys get => -ERR wrong number of arguments for 'command|getkeys' command
		command getkeys nope a => -ERR Invalid command specified
		command getkeys ping x => -ERR The command has no key arguments
		command getkeys mset a b c => *2 $1 a $1 c
		command getkeys eval x 5 a b => *0
		command getkeys sort a by x store b store c => *2 $1 a $1 c
		command getkeys lmpop 5 a b left => -ERR Invalid arguments specified for command
		command getkeysandflags set a b => *1 *2 $1 a ~2 +OW +update
		command getkeysandflags set a b get => *1 *2 $1 a ~3 +RW +access +update
		command list filterby => -ERR syntax error
		command list filterby pattern dbs* => *1 $6 dbsize
	`)
	names := h.Run("command list filterby aclcat connection")
	if len(names.Elems()) == 0 || names.Kind() != resp.KindArray {
		t.Errorf("COMMAND LIST finds no command of the category connection: %v", names)
	}
}

// scanned returns the keys that SCAN finds from cursor to its end.
func scanned(h *commandtest.Harness, cursor string) map[string]bool {
	keys := map[string]bool{}
	for {
		reply := h.Run("scan " + cursor + " count 4").Elems()
		for _, key := range reply[1].Elems() {
			keys[key.Text()] = true
		}
		if cursor = reply[0].Text(); cursor == "0" {
			return keys
		}
	}
}

func TestScanReturnsEveryKeyThatRenameOrCopyOverwrites(t *testing.T) {
	const keys = 20
	for _, overwrite := range []string{"rename src%d k%d", "copy src%d k%d replace"} {
		h := commandtest.New(t)
		for _, name := range []string{"k", "src"} {
			for i := range keys {
				h.Run(fmt.Sprintf("set %s%d x", name, i))
			}
		}
		first := h.Run("scan 0 count 24").Elems()
		seen := map[string]bool{}
		for _, key := range first[1].Elems() {
			seen[key.Text()] = true
		}
		for i := range keys {
			h.Run(fmt.Sprintf(overwrite, i, i))
		}
		maps.Copy(seen, scanned(h, first[0].Text()))
		for i := range keys {
			if key := fmt.Sprintf("k%d", i); !seen[key] {
				t.Errorf("%s: the scan does not return %s", overwrite, key)
			}
		}
	}
}
