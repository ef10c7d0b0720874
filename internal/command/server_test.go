package command

import "testing"

// The replies in this file are those of redis-server 7.0.15.

func TestFlushallFlushdbAndSwapdbAnswerAsRedis(t *testing.T) {
	newHarness(t).check(`
		set k v => +OK
		flushall foo => -ERR syntax error
		flushall sync async => -ERR syntax error
		swapdb x 0 => -ERR invalid first DB index
		swapdb 0 x => -ERR invalid second DB index
		swapdb 0 99 => -ERR DB index is out of range
		swapdb -1 0 => -ERR DB index is out of range
		swapdb 0 1 => +OK
		dbsize => :0
		swapdb 0 1 => +OK
		dbsize => :1
		flushdb ASYNC => +OK
		dbsize => :0
	`)
}

func TestSaveCommandsAnswerAsRedisAndWriteNothing(t *testing.T) {
	newHarness(t).check(`
		save => +OK
		lastsave => :1000
		bgsave => +Background saving started
		bgsave schedule => +Background saving started
		bgsave foo => -ERR syntax error
		bgrewriteaof => +Background append only file rewriting started
		shutdown foo => -ERR syntax error
		shutdown save nosave => -ERR syntax error
		shutdown abort now => -ERR syntax error
		role => *3 $6 master :0 *0
	`)
}

func TestConfigCommandsReadAndChangeDirectives(t *testing.T) {
	h := newHarness(t)
	h.check(`
		config get MAXCLIENTS nope => *2 $10 MAXCLIENTS $5 10000
		config set maxclients 7 timeout 5 => +OK
		config get maxcl* => *2 $10 maxclients $1 7
		config set maxclients 8 timeout => -ERR syntax error
		config set nope 1 => -ERR Unknown option or number of arguments for CONFIG SET - 'nope'
		config set databases 3 => -ERR CONFIG SET failed (possibly related to argument 'databases') - can't set immutable config
		config set dir / => -ERR CONFIG SET failed (possibly related to argument 'dir') - can't set protected config
		config rewrite => -ERR The server is running without a config file
		config resetstat => +OK
	`)
	h.ctx.Proto = 3
	h.check(`config get maxclients => %1 $10 maxclients $1 7`)
}

func TestMemoryUsageChecksItsOptions(t *testing.T) {
	newHarness(t).check(`
		set k v => +OK
		memory usage nokey => $-1
		memory usage k samples -1 => -ERR syntax error
		memory usage k samples x => -ERR value is not an integer or out of range
		memory usage k samples => -ERR syntax error
		memory usage k foo 1 => -ERR syntax error
	`)
}

func TestRenameGivesACommandAnotherNameOrRemovesItsRow(t *testing.T) {
	table := NewTable()
	rows := table.Len()
	for _, r := range []struct {
		from, to string
		ok       bool
		len      int
	}{
		{"keys", "", true, rows - 1},
		{"KEYS", "x", false, rows - 1},
		{"get", "fetch", true, rows - 1},
		{"set", "SET", true, rows - 1},
		{"psync", "watcher", true, rows - 1},
		{"set", "watcher", false, rows - 1},
		{"watcher", "", true, rows - 1},
		{"acl", "fetch", false, rows - 1},
		{"set", "slowlog", false, rows - 1},
		{"nope", "", false, rows - 1},
	} {
		if ok := table.Rename(r.from, r.to); ok != r.ok || table.Len() != r.len {
			t.Errorf("Rename(%q, %q) is %v and leaves %d rows, want %v and %d",
				r.from, r.to, ok, table.Len(), r.ok, r.len)
		}
	}
}

func TestAbsentCommandsHaveNoRow(t *testing.T) {
	table := NewTable()
	for name := range table.absent {
		if table.byName[name] != nil {
			t.Errorf("%s is listed as absent and has a row", name)
		}
	}
}
