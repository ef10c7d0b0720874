package stream

import "strings"

// unitCases are about units of several commands: transactions, scripts, functions, clients that wait
// for each other, keys that a command finds expired or that are evicted, and commands that are
// refused. They are separated as cases are.
var unitCases = strings.Split(strings.TrimSpace(`
MULTI
SPOP none
SADD s a
SPOP s
EXPIRE none 5
SET k v EX 100
EXPIRE k -1
GETEX k
INCRBYFLOAT f 0.1
HINCRBYFLOAT h f 0.1
EXEC

MULTI
BLPOP none 0
BLMOVE none dst LEFT RIGHT 0
RPUSH src a b c
BLMOVE src dst LEFT RIGHT 0
BRPOPLPUSH src dst 0
BLMPOP 0 2 none src LEFT
BZPOPMIN none 0
ZADD z 1 a 2 b 3 c
BZPOPMIN z 0
BZMPOP 0 1 z MAX COUNT 5
EXEC

MULTI
XADD st * f v
XADD st MAXLEN ~ 10 * f v
XGROUP CREATE st g 0
XREADGROUP GROUP g c COUNT 1 STREAMS st >
XREADGROUP GROUP g c BLOCK 0 STREAMS st >
XREADGROUP GROUP g c BLOCK 0 STREAMS st >
XAUTOCLAIM st g d 0 0
XACK st g 1-1
XTRIM st MAXLEN 0
EXEC

MULTI
GEOADD g 1 1 a 2 2 b
GEOADD g NX 1 1 a
GEORADIUS g 1 1 500 km STORE d
SORT none STORE d
RPUSH l 2 1
SORT l STORE m
SORT_RO l
COPY l l2
RENAME l2 l3
MOVE l3 2
DEL none
UNLINK m none l
EXEC

WATCH k
SET k v
MULTI
SET k w
EXEC

WATCH k
MULTI
GET k
EXEC
WATCH k
UNWATCH
MULTI
INCR k
BADCOMMAND
EXEC
MULTI
INCR k
LPUSH k x
LPUSH k y
EXEC

SELECT 5
MULTI
SET a 1
EXEC
MULTI
MOVE a 6
SELECT 6
SWAPDB 5 6
SET b 1
FLUSHDB
EXEC
SELECT 0
SWAPDB 0 0
SWAPDB 0 6

MULTI
FLUSHALL
SET a 1
EXEC
MULTI
EVAL "redis.call('set','x','1')" 0
EXEC
MULTI
EVAL "return 1" 0
EXEC
MULTI
EVAL "return 1" 0
SET a 2
EXEC
MULTI
SCRIPT LOAD "return 1"
EXEC
MULTI
SCRIPT FLUSH
SET z 1
EXEC

EVAL "return redis.call('SPOP', KEYS[1])" 1 s
SADD s a
EVAL "return redis.call('SPOP', KEYS[1])" 1 s
SADD s a
EVAL "return redis.call('spop', KEYS[1], 5)" 1 s
EVAL "return redis.call('Set', KEYS[1], 'v', 'Ex', '100')" 1 k
EVAL "return redis.call('SetEx', KEYS[1], 100, 'v')" 1 k
EVAL "return redis.call('GetEx', KEYS[1], 'persist')" 1 k
EVAL "return redis.call('GetDel', KEYS[1])" 1 k
EVAL "return redis.call('HIncrBy', KEYS[1], 'f', 1)" 1 h
EVAL "return redis.call('hincrbyfloat', KEYS[1], 'f', 1)" 1 h
EVAL "return redis.call('incrbyfloat', KEYS[1], 1)" 1 n
EVAL "return redis.call('expire', KEYS[1], 0)" 1 n
EVAL "return redis.call('pExpire', KEYS[1], 100000)" 1 h
EVAL "return redis.call('Persist', KEYS[1])" 1 h

EVAL "return redis.call('rpush', KEYS[1], 'a', 'b', 'c', 'd')" 1 l
EVAL "return redis.call('LMPOP', 1, KEYS[1], 'left', 'count', 2)" 1 l
EVAL "return redis.call('lmove', KEYS[1], KEYS[1], 'LEFT', 'RIGHT')" 1 l
EVAL "return redis.call('RPOPLPUSH', KEYS[1], KEYS[1])" 1 l
EVAL "return redis.call('blpop', KEYS[1], 0)" 1 l
EVAL "return redis.call('blmove', KEYS[1], KEYS[1], 'LEFT', 'RIGHT', 0)" 1 l
EVAL "return redis.call('zadd', KEYS[1], 1, 'a', 2, 'b')" 1 z
EVAL "return redis.call('ZMPOP', 1, KEYS[1], 'min')" 1 z
EVAL "return redis.call('zpopmin', KEYS[1])" 1 z
EVAL "return redis.call('geoadd', KEYS[1], 1, 1, 'a')" 1 g
EVAL "return redis.call('sort', KEYS[1], 'store', KEYS[2])" 2 l m

EVAL "redis.call('xadd', KEYS[1], '1-1', 'f', 'v') redis.call('XGROUP', 'create', KEYS[1], 'g', '0') return redis.call('xreadgroup', 'group', 'g', 'c', 'streams', KEYS[1], '>')" 1 st
EVAL "return redis.call('xclaim', KEYS[1], 'g', 'd', 0, '1-1')" 1 st
EVAL "return redis.call('xautoclaim', KEYS[1], 'g', 'e', 0, '0')" 1 st
EVAL "return redis.call('xack', KEYS[1], 'g', '1-1')" 1 st
EVAL "return redis.call('xack', KEYS[1], 'g', '1-1')" 1 st
EVAL "return redis.call('xtrim', KEYS[1], 'MAXLEN', 0)" 1 st
EVAL "return redis.call('xsetid', KEYS[1], '99-1')" 1 st
EVAL "return redis.call('xgroup', 'destroy', KEYS[1], 'g')" 1 st

XSETID none 1-1
XADD st 1-1 f v
XSETID st 0-1
XSETID st 5-1 ENTRIESADDED 10 MAXDELETEDID 2-1
XGROUP CREATE st g $ ENTRIESREAD 3
XGROUP SETID st g 0 ENTRIESREAD 1
XGROUP CREATE none g $
XGROUP CREATE st g 0
XGROUP CREATECONSUMER st none c
XGROUP DELCONSUMER st g none
XGROUP DESTROY none g
XREADGROUP GROUP none c STREAMS st >
XREADGROUP GROUP g c COUNT 1 STREAMS st 0-0
XREADGROUP GROUP g c2 COUNT 0 STREAMS st >
XREADGROUP GROUP g c3 COUNT 5 NOACK STREAMS st >
XADD st 6-1 f v
XADD st 7-1 f v
XREADGROUP GROUP g c4 COUNT 1 NOACK STREAMS st >
XREADGROUP GROUP g c4 COUNT 1 STREAMS st >

XADD st 1-1 f v
XADD st 2-1 f v
XADD st 3-1 f v
XGROUP CREATE st g 0
XREADGROUP GROUP g c STREAMS st >
XCLAIM st g d 0 1-1 2-1 3-1
XCLAIM st g d 0 1-1 2-1 IDLE 500
XCLAIM st g d 0 1-1 LASTID 9-1
XCLAIM st g d 0 9-9 FORCE
XCLAIM st g e 0 1-1 RETRYCOUNT 3 FORCE JUSTID LASTID 2-1
XDEL st 1-1 2-1
XAUTOCLAIM st g f 0 0 COUNT 1
XAUTOCLAIM st g f 0 0 COUNT 1 JUSTID
XAUTOCLAIM st g f 0 0
XAUTOCLAIM st g newc 9999999 0
XCLAIM st g newc2 9999999 3-1
XACK st g 3-1 1-1 77-1

XADD st NOMKSTREAM * f v
XADD st MAXLEN ~ 2 1-1 f v
XADD st MAXLEN ~ 2 LIMIT 0 2-1 f v
XADD st MINID ~ 2 3-1 f v
XADD st MINID 3 4-1 f v
XADD st MINID = 0 5-* f v
XADD st 5-* f v
XADD st 5-1 f v
XTRIM st MINID ~ 0
XTRIM st MINID ~ 5 LIMIT 0
XTRIM st MINID = 5
XTRIM st MINID 5
XTRIM none MAXLEN 5
XDEL none 1-1
XDEL st 5-0 5-1 9-9

LTRIM none 0 -1
RPUSH l a b
LTRIM l 0 10
LTRIM l 5 10
RPUSH l a b
LREM l 0 none
LSET l 9 x
LINSERT l AFTER none x
LPOP l 5
LPOP l 5
RPOP none 0
LMPOP 2 none l LEFT
RPUSH l a b c d
LMPOP 2 none l RIGHT COUNT 3
LMPOP 2 none l left
LMOVE none none LEFT LEFT
RPUSH l a
LMOVE l l LEFT RIGHT
RPOPLPUSH l l
BRPOPLPUSH l l 0
BLMOVE l l LEFT LEFT 0
LPUSHX l z
RPUSHX l y
RPUSHX none y

SADD s a b c d e f
SADD s a b c d e f
SADD one a
SPOP one
SADD s a
SREM s a b
SMOVE none s a
SADD s a
SADD t a
SMOVE s t a
SINTERSTORE t t none
SUNIONSTORE t t none
SADD i 1 2 3
SPOP i 3
SADD big 1 2 3 4 5 6 7 8 9 10
SPOP none 10

GETEX none PERSIST
SET k v
GETEX k PXAT 99999999999999
GETEX k EXAT 1
GETEX k EX 100
GETEX k
SET k v PX 100
GETEX k PERSIST
GETEX k PX -1
GETDEL k
SET k v
LPUSH l x
GETDEL l
GETEX l EX 5
GETSET l x
SET l v GET
SET k w XX GET PX 100000
SET k w NX GET
SET none w XX GET
SET none w XX
SETNX k v
SETEX k 0 v
SETEX k -1 v
SET k v EX 0

EXPIRE none 0
SET k v
EXPIRE k 100 XX
EXPIRE k 100 NX
EXPIRE k 50 GT
EXPIRE k 50 LT
EXPIRE k -5 GT
EXPIRE k -5 LT
SET k v
EXPIREAT k 1
SET k v
PEXPIRE k 0
SET k v
EXPIRE k 9223372036854775807
PEXPIREAT k 9223372036854775807
PERSIST k
PERSIST none

RESTORE d 0 "\x00\x01v\n\x00\x99\xd1\x1d\x01\xbb\xf4\x88\x89"
RESTORE d 0 "\x00\x01v\n\x00\x99\xd1\x1d\x01\xbb\xf4\x88\x89"
RESTORE d 1 "\x00\x01v\n\x00\x99\xd1\x1d\x01\xbb\xf4\x88\x89" REPLACE ABSTTL
RESTORE d 1 "\x00\x01v\n\x00\x99\xd1\x1d\x01\xbb\xf4\x88\x89" ABSTTL
RESTORE d 5 "bad"

FUNCTION LOAD "#!lua name=lib\nredis.register_function('f', function(k, a) redis.call('set', k[1], a[1]) redis.call('get', k[1]) return 1 end) redis.register_function{function_name='r', callback=function(k, a) return 1 end, flags={'no-writes'}}"
FCALL f 1 k v
FCALL_RO r 0
MULTI
FCALL f 1 k v
FCALL f 1 k2 v
EXEC
FUNCTION LOAD "#!lua name=lib\nredis.register_function('f', function() end)"
FUNCTION DELETE none
FUNCTION RESTORE bad
FUNCTION FLUSH ASYNC
MULTI
FUNCTION LOAD "#!lua name=lib\nredis.register_function('f', function() end)"
SET k v
FUNCTION DELETE lib
EXEC

a> BLPOP l1 l2 0
b> BLPOP l2 l1 0
RPUSH l1 x y z
a<
b<
LRANGE l1 0 -1
a> BLMOVE l2 l3 LEFT RIGHT 0
b> BLMOVE l3 l4 LEFT RIGHT 0
c> BRPOP l4 0
RPUSH l2 e
a<
b<
c<

a> BLPOP l 0
EVAL "redis.call('rpush', KEYS[1], 'a', 'b') redis.call('set', 'k', 'v')" 1 l
a<
a> BLPOP m 0
MULTI
RPUSH m a
DEL m
RPUSH m b
EXEC
a<
a> BLPOP n 0
RPUSH o a
RENAME o n
a<
a> BLPOP p 0
RPUSH q z y x
SORT q ALPHA STORE p
a<
a> BLPOP r 0
SELECT 1
RPUSH r x
MOVE r 0
SELECT 0
a<
a> BLPOP s 0
SELECT 1
RPUSH s x
SWAPDB 0 1
SELECT 0
a<

a> BLPOP l 0
SET l x
DEL l
RPUSH l v
a<
a> BRPOPLPUSH l l 0
RPUSH l v
a<
DEL l
a> BLMPOP 0 2 m l RIGHT COUNT 2
RPUSH l 1 2 3
a<
a> BZMPOP 0 2 y z MIN
ZADD z 1 a
a<
a> BZPOPMIN y z 0
ZADD z 1 a 2 b
a<
a> BZPOPMAX z2 0
ZUNIONSTORE z2 1 z
a<
a> BZPOPMAX z3 0
GEOADD z3 1 1 here
a<

XADD st 1-1 f v
XGROUP CREATE st g $
a> XREADGROUP GROUP g c COUNT 1 BLOCK 0 STREAMS st >
XADD st 2-1 f v
a<
b> XREADGROUP GROUP g d BLOCK 0 STREAMS st >
XADD st 3-1 f v
b<
a> XREADGROUP GROUP g e BLOCK 0 STREAMS st >
XGROUP DESTROY st g
a<

XADD st 1-1 f v
XGROUP CREATE st g 0
XGROUP CREATE other g $ MKSTREAM
XREADGROUP GROUP g c STREAMS st >
a> XREADGROUP GROUP g c BLOCK 0 STREAMS st other > >
b> XREADGROUP GROUP g d BLOCK 0 STREAMS other st > >
MULTI
XADD st 2-1 f v
XADD other 2-1 f v
EXEC
a<
b<

DEBUG SET-ACTIVE-EXPIRE 0
SET k v PX 20
HSET h f 1
PEXPIRE h 20
RPUSH l a
PEXPIRE l 20
SADD s a
PEXPIRE s 20
XADD st 1-1 f v
PEXPIRE st 20
ZADD z 1 a
PEXPIRE z 20
DEBUG SLEEP 0.06
HGETALL h
LPUSHX l b
SADD s b
XADD st 1-1 f v
DEL z
MULTI
EXISTS k
EXEC
DEBUG SET-ACTIVE-EXPIRE 1

DEBUG SET-ACTIVE-EXPIRE 0
MSET k v k2 v k3 v k4 v k5 v
PEXPIRE k 20
PEXPIRE k2 20
PEXPIRE k3 20
PEXPIRE k4 20
PEXPIRE k5 20
DEBUG SLEEP 0.06
MULTI
SET k w
SET a 1
GET k2
EXEC
EVAL "redis.call('set','b','1') return redis.call('get','k3')" 0
EVAL "redis.call('del','k4') return redis.call('exists','k5')" 0
DEBUG SET-ACTIVE-EXPIRE 1

DEBUG SET-ACTIVE-EXPIRE 0
MSET k v k2 v k3 v k4 v k5 v k6 v
PEXPIRE k 20
PEXPIRE k2 20
PEXPIRE k3 20
PEXPIRE k4 20
PEXPIRE k5 20
PEXPIRE k6 20
DEBUG SLEEP 0.06
RENAME k x
COPY k2 y
TTL k3
TYPE k4
OBJECT ENCODING k5
MGET k k2 k3 k4 k5 k6
DBSIZE
DEBUG SET-ACTIVE-EXPIRE 1

DEBUG SET-ACTIVE-EXPIRE 0
SET k v PX 20
SET n v PX 20
SET g v PX 20
SET s v PX 20
SET t v PX 20
SET u 1 PX 20
DEBUG SLEEP 0.06
GETEX k EX 5
GETDEL n
SET g w GET
SET s w XX
SET t w NX
INCR u
DEBUG SET-ACTIVE-EXPIRE 1

CONFIG SET maxmemory 1
SET k v
RPUSH l x
DEL k
EVAL "return redis.call('set','k','v')" 0
EVAL "return redis.pcall('set','k','v')" 0
MULTI
SET k v
EXEC
PUBLISH c m
CONFIG SET maxmemory 0

CONFIG SET min-replicas-to-write 5
SET k v
DEL k
EVAL "return redis.pcall('set','k','v')" 0
PUBLISH c m
CONFIG SET min-replicas-to-write 0
SET k v

MULTI
PUBLISH a b
EXEC
MULTI
PUBLISH a b
SPUBLISH c d
EXEC
EVAL "redis.call('PUBLISH','a','b') redis.call('spublish','c','d')" 0
EVAL_RO "return redis.call('publish','a','b')" 0
EVALSHA_RO none 0
EVAL "redis.call('publish','a','b') error('x')" 0

PFADD hl a b c
PFMERGE hl hl
PFMERGE none2 none
PFADD none2
PFCOUNT none2 hl
PFDEBUG ENCODING hl
PFDEBUG TODENSE hl

BITFIELD b GET u8 0
BITFIELD b SET u8 0 0
BITFIELD b OVERFLOW FAIL INCRBY u2 0 9
BITFIELD b INCRBY u8 0 1 INCRBY u8 8 1
BITFIELD_RO b GET u8 0
SETBIT b 3 0
SETBIT b 3 1
SETRANGE b 3 ""
SETRANGE none 3 ""
APPEND none ""
APPEND b ""
BITOP AND d b b
BITOP OR d none none
LCS a b
MSETNX x 1 b 2
STRLEN b

COPY none x
SET a 1
COPY a a
COPY a b
COPY a b REPLACE
COPY a a DB 3
MOVE a 0
MOVE none 1
RENAME none x
RENAME a a
RENAMENX a a
RENAMENX a b
RENAMENX a c
TOUCH a b none
UNLINK none
DEL b none c
FLUSHDB SYNC
FLUSHALL SYNC
FLUSHALL

ZADD z NX 1 a
ZADD z GT CH 2 a
ZADD z LT 5 a
ZADD z XX 3 none
ZADD z INCR 1 a
ZADD z XX INCR 1 none
ZINCRBY z 0 a
ZREM z a
ZPOPMIN z
ZPOPMAX none 5
ZADD z 1 a 2 b
ZPOPMIN z 0
ZPOPMIN z 5
ZADD z 1 a 2 b 3 c
ZMPOP 2 none z MIN COUNT 2
ZRANGESTORE d z 0 -1
ZRANGESTORE d none 0 -1
ZRANGESTORE d none 0 -1
ZREMRANGEBYRANK z 0 -1
ZUNIONSTORE z 2 z none
ZINTERSTORE z 1 none
ZDIFFSTORE z 2 none none

SORT none STORE none2
RPUSH l 3 1 2
SORT l DESC LIMIT 0 2 STORE l
SORT l BY w_* GET # GET v_* STORE d
SORT l LIMIT 0 0 STORE d
GEOADD g CH 1 1 a
GEOADD g CH 1 1 a
GEOADD g XX 1 1 none
GEOADD g 181 1 a
GEORADIUS g 1 1 1 km STOREDIST d
GEORADIUS g 100 1 1 km STORE d
GEORADIUSBYMEMBER g a 1 km STORE d
GEORADIUS g 1 1 1 km
GEOSEARCHSTORE d g FROMMEMBER a BYBOX 1 1 km STOREDIST

EVAL "redis.call('set','a','1') redis.call('multi')" 0
EVAL "redis.setresp(3) redis.call('spop', 'none') return redis.call('hset','h','f','v')" 0
EVAL "redis.replicate_commands() redis.call('set','a','1')" 0
EVAL "#!lua flags=no-writes\nreturn redis.call('get','a')" 0
EVAL "#!lua\nreturn redis.call('set','a','7')" 0
EVAL "#!lua flags=no-writes\nreturn redis.call('set','a','8')" 0
EVAL "return redis.call('eval','return 1',0)" 0
EVAL "for i=1,3 do redis.call('incr','n') end return redis.pcall('incr','h')" 0
EVAL "redis.call('set','big','x') redis.call('expire','big',100) redis.call('expire','big',-1)" 0
EVAL "redis.call('SELECT',3) redis.call('set','k','v')" 0
GET k
EVAL "redis.call('swapdb',0,3) redis.call('flushdb')" 0

RPUSH l a b c d
ZADD z 1 a 2 b 3 c
SADD s a
SADD t a b
XADD st 1-1 f v
XADD st 2-1 f v
XGROUP CREATE st g 0
EVAL "redis.set_repl(redis.REPL_NONE) redis.call('spop','s')" 0
EVAL "redis.set_repl(redis.REPL_NONE) redis.call('spop','none', 5)" 0
SADD t a
EVAL "redis.set_repl(redis.REPL_NONE) redis.call('lmpop',1,'l','left')" 0
EVAL "redis.set_repl(redis.REPL_NONE) redis.call('zmpop',1,'z','min')" 0
EVAL "redis.set_repl(redis.REPL_NONE) redis.call('set','k','v','ex','100')" 0
EVAL "redis.set_repl(redis.REPL_NONE) redis.call('hincrbyfloat','h','v','100')" 0
EVAL "redis.set_repl(redis.REPL_NONE) redis.call('geoadd','g',1,1,'a')" 0

XADD st 1-1 f v
XADD st 2-1 f v
XGROUP CREATE st g 0
EVAL "redis.set_repl(redis.REPL_NONE) redis.call('xreadgroup','group','g','c','count',1,'streams','st','>')" 0
EVAL "redis.set_repl(redis.REPL_NONE) redis.call('xclaim','st','g','d',0,'1-1')" 0
EVAL "redis.set_repl(redis.REPL_NONE) redis.call('xautoclaim','st','g','e',0,'0')" 0
EVAL "redis.set_repl(redis.REPL_NONE) redis.call('xadd','st','*','f', 'v')" 0

DEBUG SET-ACTIVE-EXPIRE 0
MSET a 1 b 1 c 1 d 1
PEXPIRE a 20
PEXPIRE b 20
DEBUG SLEEP 0.06
EVAL "redis.set_repl(redis.REPL_NONE) redis.call('get','a') redis.call('set', 'b', '3')" 0
DEBUG SET-ACTIVE-EXPIRE 1

FUNCTION LOAD "#!lua name=lib\nredis.register_function('f', function(k, a) redis.set_repl(redis.REPL_NONE) redis.call('set', k[1], a[1]) end)"
FCALL f 1 k v
EVAL "redis.call('set','x', '1')" 0
EVAL "redis.set_repl(redis.REPL_REPLICA) redis.call('set','x', '2')" 0
MULTI
FCALL f 1 k v
EVAL "redis.call('set','x', '1')" 0
EXEC
FUNCTION LOAD REPLACE "#!lua name=lib\nredis.register_function('f', function(k, a) redis.set_repl(redis.REPL_AOF+redis.REPL_REPLICA) redis.call('set', k[1], a[1]) end)"
FCALL f 1 k v
EVAL "redis.set_repl(0) redis.call('set','x', '1') error('a')" 0
EVAL "redis.set_repl(0) redis.call('eval','x', '1')" 0
EVAL "redis.call('set','x', '1')" 0
FUNCTION FLUSH

EVAL "redis.set_repl(0) redis.call('set','x', '1') redis.set_repl(3)" 0
EVAL "redis.set_repl(0) redis.call('del','x') redis.call('incr','x') redis.set_repl(3) redis.call('incr','x') redis.call('select', 3) redis.set_repl(1) redis.call('incr','x') redis.set_repl(2) redis.call('incr','x')" 0

DEBUG SET-ACTIVE-EXPIRE 0
MSET k v k2 v k3 v k4 v
PEXPIRE k 20
PEXPIRE k2 20
PEXPIRE k3 20
DEBUG SLEEP 0.06
MGET k k2 k4
EXISTS k3
DEBUG SET-ACTIVE-EXPIRE 1

CONFIG SET maxmemory-policy volatile-lru
SET k v EX 1000
SET other v
CONFIG SET maxmemory 1
SET x y
DBSIZE
CONFIG SET maxmemory 0

CONFIG SET maxmemory-policy volatile-lru
SET k v EX 1000
SET other v
MULTI
CONFIG SET maxmemory 1
SET x y
GET other
EXEC
CONFIG SET maxmemory 0

CONFIG SET maxmemory-policy volatile-lru
SET other v
EVAL "redis.call('set', 'k', 'v', 'ex', '1000') redis.call('config', 'set', 'maxmemory', '1') return redis.pcall('set', 'a', 'b')" 0
DEL other
CONFIG SET maxmemory 0
CONFIG SET maxmemory-policy noeviction
`), "\n\n")
