package stream

import "strings"

// cases are separated by empty lines. The databases are empty before each.
var cases = strings.Split(strings.TrimSpace(`
SET k v EX 100
SET k v PX 100000 NX
SET k v2 PX 100000 XX GET
SET k v3 KEEPTTL
SET k v4 GET
SET k v5 NX
SET k v EXAT 9999999999
SET k v PXAT 9999999999999
SET old v PXAT 1
GET old

SETEX k 100 v
PSETEX k 100000 v
SETNX k v
SETNX k2 v
GETSET k w
GETDEL k
GETDEL none
APPEND k2 x
SETRANGE k2 1 yy
INCR n
INCRBY n 5
DECR n
INCRBYFLOAT f 1.5
SETBIT b 7 1
BITFIELD b SET u8 0 200 INCRBY u8 8 1
BITFIELD b GET u8 0
BITOP NOT c b
BITOP NOT c none
MSET a 1 b 2
MSETNX a 1 z 2
MSETNX y 1 z 2

SET k v
GETEX k
GETEX k EX 50
GETEX k PERSIST
GETEX k PERSIST
GETEX k PX 50000
GETEX k EXAT 9999999999
GETEX k PXAT 1
GETEX none EX 5

SET k v
EXPIRE k 100
PEXPIRE k 100000 NX
PEXPIRE k 200000 GT
EXPIREAT k 9999999999
PEXPIREAT k 9999999999999
PERSIST k
PERSIST k
EXPIRE k -1
SET k v
PEXPIREAT k 1
SET k v
EXPIRE k 0
EXPIRE none 5

HSET h f 1 g 2
HSET h f 1
HSETNX h f 5
HSETNX h k 5
HMSET h a 1
HINCRBY h f 2
HINCRBYFLOAT h f 1.5
HDEL h f g
HDEL h none
HDEL h k a

SADD s a b c d
SADD s a
SREM s none
SREM s a
SMOVE s t b
SMOVE s t none
SPOP t
SADD i 7
SPOP i 5
SADD i 8 9
SPOP i 2
SPOP i
SINTERSTORE d s s
SUNIONSTORE d none none
SDIFFSTORE d none
SADD one x
SPOP one 1
SADD one x
SPOP one 0

RPUSH l a b c d
LPUSH l x
LPUSHX none x
LINSERT l BEFORE a y
LINSERT l BEFORE none y
LSET l 0 z
LREM l 1 z
LREM l 1 none
LTRIM l 0 -1
LTRIM l 1 -1
LPOP l
RPOP l 2
LPOP l 0
LMPOP 1 l LEFT COUNT 2
LMPOP 1 l RIGHT
RPUSH l a b c d e f
BLPOP none l 1
BRPOP l 1
BRPOPLPUSH l m 1
RPOPLPUSH l m
RPOPLPUSH none m
LMOVE l m LEFT RIGHT
BLMOVE l m left right 1
BLMPOP 1 2 none m RIGHT COUNT 5
LPOP none

ZADD z 1 a 2 b 3 c
ZADD z 1 a
ZADD z XX CH 5 a
ZADD z INCR 1 a
ZADD z NX INCR 1 a
ZINCRBY z 2 b
ZREM z none
ZREM z c
ZPOPMIN z
ZPOPMAX z 2
ZADD z 1 a 2 b 3 c 4 d 5 e
ZMPOP 1 z MIN COUNT 1
ZMPOP 1 z MAX
BZPOPMIN z 1
BZPOPMAX z 1
BZMPOP 1 1 z MIN
ZADD z 1 a 2 b 3 c 4 d 5 e
ZRANGESTORE y z 0 1
ZRANGESTORE y z 9 10
ZREMRANGEBYRANK z 0 0
ZREMRANGEBYSCORE z 2 2
ZREMRANGEBYLEX z [c [c
ZREMRANGEBYSCORE z 100 200
ZUNIONSTORE u 1 z
ZINTERSTORE u 1 none
ZDIFFSTORE u 1 z

GEOADD geo 13.36 38.11 p 15 37 q
GEOADD geo XX CH 13.37 38.11 p
GEOADD geo NX 1 1 p
GEORADIUS geo 15 37 200 km STORE gs
GEORADIUSBYMEMBER geo p 200 km STOREDIST gs
GEOSEARCHSTORE gs geo FROMLONLAT 15 37 BYRADIUS 200 km
GEOSEARCHSTORE gs geo FROMLONLAT 100 37 BYRADIUS 1 km

PFADD hl a
PFADD hl a
PFADD hl
PFCOUNT hl
PFCOUNT hl
PFADD hl2 b
PFMERGE hl3 hl hl2
PFCOUNT hl hl2

XADD st 1-1 f v
XADD st 2-* f v
XADD st NOMKSTREAM 3 f v
XADD none NOMKSTREAM 3 f v
XADD st MAXLEN ~ 1000 4-1 f v
XADD st MAXLEN = 2 5-1 f v
XADD st MAXLEN 2 6-1 f v
XADD st MINID ~ 1 LIMIT 10 7-1 f v
XADD st MINID = 7 8-1 f v
XDEL st 8-1
XDEL st 99
XTRIM st MAXLEN ~ 0
XTRIM st MAXLEN 0
XADD st 9-1 f v
XTRIM st MAXLEN 0
XSETID st 10-1
XADD st * f v

XADD st 1-1 f v
XADD st 2-1 f v
XADD st 3-1 f v
XADD st 4-1 f v
XGROUP CREATE st g 0
XGROUP CREATE new g $ MKSTREAM
XGROUP CREATECONSUMER st g c
XGROUP CREATECONSUMER st g c
XREADGROUP GROUP g c COUNT 1 STREAMS st >
XREADGROUP GROUP g d COUNT 2 STREAMS st >
XREADGROUP GROUP g d STREAMS st 0
XREADGROUP GROUP g e NOACK STREAMS st >
XREADGROUP GROUP g e STREAMS st >
XREADGROUP GROUP g x STREAMS st >
XREADGROUP GROUP g y STREAMS st 0
XACK st g 99
XACK st g 1-1
XCLAIM st g e 0 2-1
XCLAIM st g e 0 2-1 JUSTID
XCLAIM st g e 0 4-1
XCLAIM st g e 0 4-1 FORCE
XCLAIM st g e 0 3-1 RETRYCOUNT 7 TIME 1
XCLAIM st g e 999999 3-1
XCLAIM st g new 0 3-1
XCLAIM st g new 0 99 LASTID 50
XAUTOCLAIM st g d 0 0 COUNT 1
XAUTOCLAIM st g d 0 0 COUNT 10 JUSTID
XDEL st 2-1
XCLAIM st g c 0 2-1
XDEL st 3-1
XAUTOCLAIM st g c 0 0
XGROUP SETID st g 3-1
XGROUP DELCONSUMER st g d
XGROUP DELCONSUMER st g d
XGROUP DESTROY st g
XGROUP DESTROY st g

XADD st 1-1 f v
XADD su 1-1 f v
XGROUP CREATE st g 0
XGROUP CREATE su g 0
XREADGROUP GROUP g c STREAMS st su > >
a> XREADGROUP GROUP g c BLOCK 0 STREAMS st >
XADD st 2-1 f v
a<
a> XREADGROUP GROUP g n NOACK BLOCK 0 STREAMS st >
XADD st 3-1 f v
a<
a> XREAD BLOCK 0 STREAMS st $
XADD st 4-1 f v
a<
a> XREADGROUP GROUP g n BLOCK 0 STREAMS su >
DEL su
a<

a> BLPOP l 0
RPUSH l x
a<
a> BRPOP l m 0
RPUSH m x y
a<
a> BLMOVE src dst LEFT RIGHT 0
RPUSH src e
a<
a> BLMOVE src dst right left 0
RPUSH src e
a<
a> BRPOPLPUSH src dst 0
RPUSH src e
a<
a> BLMPOP 0 1 l LEFT COUNT 10
RPUSH l x y z
a<
a> BZPOPMIN z 0
ZADD z 1 x
a<
a> BZPOPMAX z 0
ZADD z 1 x
a<
a> BZMPOP 0 1 z MAX COUNT 2
ZADD z 1 x 2 y 3 z
a<
SET str v
a> BLMOVE src str LEFT RIGHT 0
RPUSH src e
a<
a> BLPOP l 0
MULTI
RPUSH l 1 2 3
SET k v
EXEC
a<

SET k v
COPY k k2
COPY k k2
COPY k k2 REPLACE
COPY k k3 DB 1
RENAME k k4
RENAMENX k4 k2
RENAMENX k4 k5
MOVE k2 1
MOVE k2 1
SWAPDB 0 1
DEL k3 none
DEL none
UNLINK k5
SELECT 3
SET k v
FLUSHDB
FLUSHALL ASYNC
TOUCH k
SELECT 0

RPUSH l 3 1 2
SORT l STORE m
SORT l
SORT none STORE m
SORT l BY nosort GET # STORE n
OBJECT ENCODING l
TYPE l

DEBUG SET-ACTIVE-EXPIRE 0
SET k v PX 20
DEBUG SLEEP 0.06
GET k
SET k2 v PX 20
SET k3 v PX 20
SET k4 v PX 20
DEBUG SLEEP 0.06
SET k2 w
EVAL "return redis.call('get','k3')" 0
MULTI
GET k4
SET k5 v
EXEC
DEBUG SET-ACTIVE-EXPIRE 1

MULTI
SET x 1
INCR x
EXEC
MULTI
GET x
EXEC
MULTI
SET y 1
EXEC
MULTI
SELECT 2
SET x 1
SELECT 0
SET x 2
EXEC
MULTI
SET x 1
LPUSH x 1
INCR x
EXEC
MULTI
PUBLISH c m
SET x 1
EXEC
MULTI
DISCARD

EVAL "redis.call('set',KEYS[1],'v','px','100000')redis.call('incr','n')" 1 a
EVAL "redis.call('incr','n')" 0
EVAL "return redis.call('get','n')" 0
EVAL "redis.call('INCR','n') redis.call('publish','c','m')" 0
EVAL "redis.call('publish','c','m')" 0
EVAL "redis.pcall('incr',KEYS[1]) return redis.pcall('lpush',KEYS[1],'x')" 1 a
EVAL "redis.call('select','1') redis.call('set','k','v') redis.call('select','0') redis.call('set','k','w')" 0
EVAL "redis.call('incr','n') error('x')" 0
EVAL "redis.call('hincrby',KEYS[1],ARGV[1],1) redis.call('pexpire',KEYS[1],ARGV[2])" 1 lock owner 30000
EVAL "if redis.call('hexists',KEYS[1],ARGV[1]) == 0 then return nil end local c = redis.call('hincrby',KEYS[1],ARGV[1],-1) if c > 0 then redis.call('pexpire',KEYS[1],30000) return 0 else redis.call('del',KEYS[1]) redis.call('publish','ch',ARGV[2]) return 1 end" 1 lock owner 0
MULTI
EVAL "redis.call('incr','n') redis.call('incr','n')" 0
SET q 1
EXEC
SCRIPT LOAD "return 1"
SCRIPT FLUSH
FUNCTION LOAD "#!lua name=lib\nredis.register_function('f', function(k, a) redis.call('set', k[1], a[1]) redis.call('expire', k[1], 100) return 1 end)"
FCALL f 1 k v
FUNCTION LOAD REPLACE "#!lua name=lib\nredis.register_function('g', function(k, a) return 1 end)"
FCALL g 0
FUNCTION DELETE lib
FUNCTION FLUSH

PUBLISH c m
SPUBLISH c m
CONFIG SET hz 20
CLIENT SETNAME x
PING
DBSIZE
SET k v
OBJECT FREQ k
LPUSH k x
GETBIT k 1
HINCRBYFLOAT k a 1
WATCH k
UNWATCH

SET k v
RESTORE d 0 "\x00\x01v\n\x00\x99\xd1\x1d\x01\xbb\xf4\x88\x89"
DUMP k
FLUSHDB
`), "\n\n")
