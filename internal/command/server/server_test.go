package server_test

import (
	"testing"

	"github.com/lockredis/lockredis/internal/command/commandtest"
)

// The replies in this file are from redis-server 7.0.15.

func TestFlushallFlushdbAndSwapdbAnswerAsRedis(t *testing.T) {
	commandtest.New(t).Check(`
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
	commandtest.New(t).Check(`
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
	h := commandtest.New(t)
	h.Check(`
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
	h.Ctx.Proto = 3
	h.Check(`config get maxclients => %1 $10 maxclients $1 7`)
}

func TestMemoryUsageChecksItsOptions(t *testing.T) {
	commandtest.New(t).Check(`
		set k v => +OK
		memory usage nokey => $-1
		memory usage k samples -1 => -ERR syntax error
		memory usage k samples x => -ERR value is not an integer or out of range
		memory usage k samples => -ERR syntax error
		memory usage k foo 1 => -ERR syntax error
	`)
}
