package str_test

import (
	"testing"

	"github.com/lockredis/lockredis/internal/command/commandtest"
)

func TestSetOptionsAnswerAsRedis(t *testing.T) {
	h := commandtest.New(t)
	h.Check(`
		set k v ex 10 ex 20 => +OK
		set k v ex 10 px 20 => -ERR syntax error
		set k v nx xx => -ERR syntax error
		set k v nx nx => $-1
		set k v get get => $1 v
		set k v keepttl ex 10 => -ERR syntax error
		set k v keepttl KEEPTTL => +OK
		set k v ex => -ERR syntax error
		set k v ex 0 => -ERR invalid expire time in 'set' command
		set k v px -1 => -ERR invalid expire time in 'set' command
		set k v ex abc => -ERR value is not an integer or out of range
		set k v ex 9223372036854775807 => -ERR invalid expire time in 'set' command
		set k v px 9223372036854775807 => -ERR invalid expire time in 'set' command
		set k v exat 9223372036854775 => +OK
		set k v persist => -ERR syntax error
		set k w nx get => $1 v
		set n v nx get => $-1
		set n w xx get => $1 v
		set none v xx => $-1
		set none v xx ex abc => -ERR value is not an integer or out of range
		rpush l a => :1
		set l v get => -WRONGTYPE Operation against a key holding the wrong kind of value
		set l v get ex 0 => -ERR invalid expire time in 'set' command
		set l v => +OK
		get l => $1 v
	`)
}

func TestGetexAnswersAsRedis(t *testing.T) {
	h := commandtest.New(t)
	h.Check(`
		set k v => +OK
		getex k => $1 v
		getex k ex 10 => $1 v
		getex k persist => $1 v
		getex k px 10 persist => -ERR syntax error
		getex k keepttl => -ERR syntax error
		getex k nx => -ERR syntax error
		getex k ex 0 => -ERR invalid expire time in 'getex' command
		getex k exat 1 => $1 v
		get k => $-1
		getex none foo => -ERR syntax error
		getex none ex abc => $-1
	`)
}

func TestSetexGetsetAndMsetAnswerAsRedis(t *testing.T) {
	h := commandtest.New(t)
	h.Check(`
		setex k 0 v => -ERR invalid expire time in 'setex' command
		setex k abc v => -ERR value is not an integer or out of range
		psetex k -1 v => -ERR invalid expire time in 'psetex' command
		setex k 10 v => +OK
		setnx k w => :0
		setnx n w => :1
		getset k x => $1 v
		getset none y => $-1
		getdel k => $1 x
		getdel k => $-1
		mset a => -ERR wrong number of arguments for 'mset' command
		mset a 1 b => -ERR wrong number of arguments for 'mset' command
		mset a 1 b 2 a 3 => +OK
		mget a b none => *3 $1 3 $1 2 $1 y
		msetnx a 1 new 2 => :0
		msetnx new 2 newer 3 => :1
		msetnx x => -ERR wrong number of arguments for 'msetnx' command
	`)
}

func TestAppendGetrangeAndSetrangeAnswerAsRedis(t *testing.T) {
	h := commandtest.New(t)
	h.Check(`
		append a 12 => :2
		append a 34 => :4
		strlen a => :4
		strlen none => :0
		getrange a 0 -1 => $4 1234
		getrange a -2 -1 => $2 34
		getrange a 2 1 => $0
		getrange a -1 -3 => $0
		getrange a 0 100 => $4 1234
		getrange a -100 1 => $2 12
		substr a 1 2 => $2 23
		getrange none 0 1 => $0
		getrange a x 1 => -ERR value is not an integer or out of range
		setrange a -1 v => -ERR offset is out of range
		setrange a x v => -ERR value is not an integer or out of range
		setrange a 536870911 vv => -ERR string exceeds maximum allowed size (proto-max-bulk-len)
		setrange a 1 '' => :4
		setrange none 3 '' => :0
		setrange a 6 z => :7
		strlen a => :7
		setrange b 2 z => :3
		strlen b => :3
	`)
}

func TestIncrCommandsAnswerAsRedis(t *testing.T) {
	h := commandtest.New(t)
	h.Check(`
		incr i => :1
		incrby i 41 => :42
		decr i => :41
		decrby i 1 => :40
		incrby i x => -ERR value is not an integer or out of range
		decrby i -9223372036854775808 => -ERR decrement would overflow
		set i 9223372036854775807 => +OK
		incr i => -ERR increment or decrement would overflow
		decrby i -1 => -ERR increment or decrement would overflow
		set i 1.5 => +OK
		incr i => -ERR value is not an integer or out of range
		incrbyfloat i 0.1 => $3 1.6
		incrbyfloat i 1e2 => $5 101.6
		set f 3.0e3 => +OK
		incrbyfloat f 200 => $4 3200
		set f 10.5 => +OK
		incrbyfloat f 0.1 => $4 10.6
		incrbyfloat f -5 => $3 5.6
		set f 5.0e-1 => +OK
		incrbyfloat f 0 => $3 0.5
		incrbyfloat f 1e-17 => $19 0.50000000000000001
		incrbyfloat f 1e-18 => $19 0.50000000000000001
		incrbyfloat g 0x1p-3 => $5 0.125
		incrbyfloat g -0.125 => $1 0
		incrbyfloat g inf => -ERR increment would produce NaN or Infinity
		incrbyfloat g nan => -ERR value is not a valid float
		incrbyfloat g x => -ERR value is not a valid float
		set t x => +OK
		incrbyfloat t 1 => -ERR value is not a valid float
	`)
}

func TestLCSAnswersAsRedis(t *testing.T) {
	h := commandtest.New(t)
	h.Check(`
		set a ohmytext => +OK
		set b mynewtext => +OK
		lcs a b => $6 mytext
		lcs a b len => :6
		lcs a b idx => *4 $7 matches *2 *2 *2 :4 :7 *2 :5 :8 *2 *2 :2 :3 *2 :0 :1 $3 len :6
		lcs a b idx minmatchlen 4 => *4 $7 matches *1 *2 *2 :4 :7 *2 :5 :8 $3 len :6
		lcs a b IDX withmatchlen minmatchlen -1 => *4 $7 matches *2 *3 *2 :4 :7 *2 :5 :8 :4 *3 *2 :2 :3 *2 :0 :1 :2 $3 len :6
		lcs a none => $0
		lcs a none idx => *4 $7 matches *0 $3 len :0
		lcs a b len idx => -ERR If you want both the length and indexes, please just use IDX.
		lcs a b minmatchlen => -ERR syntax error
		lcs a b idx minmatchlen x => -ERR value is not an integer or out of range
		lcs a b foo => -ERR syntax error
	`)
}

func TestStringAnswersInRESP3(t *testing.T) {
	h := commandtest.New(t)
	h.Ctx.Proto = 3
	h.Check(`
		set a ohmytext => +OK
		set b mynewtext => +OK
		lcs a b idx withmatchlen => %2 $7 matches *2 *3 *2 :4 :7 *2 :5 :8 :4 *3 *2 :2 :3 *2 :0 :1 :2 $3 len :6
		set a v xx get => $8 ohmytext
		get none => _
		mget a none => *2 $1 v _
	`)
}

func TestStringCommandsCheckTheirArgumentsInTheOrderOfRedis(t *testing.T) {
	h := commandtest.New(t)
	h.Check(`
		rpush k a => :1
		append k x => -WRONGTYPE Operation against a key holding the wrong kind of value
		decr k => -WRONGTYPE Operation against a key holding the wrong kind of value
		getdel k => -WRONGTYPE Operation against a key holding the wrong kind of value
		getex k => -WRONGTYPE Operation against a key holding the wrong kind of value
		getrange k 0 1 => -WRONGTYPE Operation against a key holding the wrong kind of value
		getset k x => -WRONGTYPE Operation against a key holding the wrong kind of value
		incr k => -WRONGTYPE Operation against a key holding the wrong kind of value
		incrby k 1 => -WRONGTYPE Operation against a key holding the wrong kind of value
		incrby k x => -ERR value is not an integer or out of range
		incrbyfloat k 1 => -WRONGTYPE Operation against a key holding the wrong kind of value
		incrbyfloat k x => -WRONGTYPE Operation against a key holding the wrong kind of value
		lcs k k foo => -ERR The specified keys must contain string values
		setrange k 0 x => -WRONGTYPE Operation against a key holding the wrong kind of value
		setrange k 0 '' => -WRONGTYPE Operation against a key holding the wrong kind of value
		setrange k -1 x => -ERR offset is out of range
		strlen k => -WRONGTYPE Operation against a key holding the wrong kind of value
		get k => -WRONGTYPE Operation against a key holding the wrong kind of value
		mget k => *1 $-1
		setnx k v => :0
		msetnx k v => :0
	`)
}
