package command

import "testing"

func TestZSetCommandsAnswerAsRedis(t *testing.T) {
	replies(t, newHarness(t), [][2]string{
		{"ZADD z -0 a 1.5 b 1e17 c inf d", ":4\r\n"},
		{"ZSCORE z a", "$1\r\n0\r\n"},
		{"ZSCORE z c", "$5\r\n1e+17\r\n"},
		{"ZSCAN z 0 MATCH c", "*2\r\n$1\r\n0\r\n*2\r\n$1\r\nc\r\n$18\r\n100000000000000000\r\n"},
		{"ZADD z NX GT 1 a", "-ERR GT, LT, and/or NX options at the same time are not compatible\r\n"},
		{"ZADD z GT CH 1 a 1 b", ":1\r\n"},
		{"ZADD z NX INCR 1 a", "$-1\r\n"},
		{"ZINCRBY z -inf d", "-ERR resulting score is not a number (NaN)\r\n"},
		{"ZRANGE z (1 inf BYSCORE LIMIT 1 1 WITHSCORES", "*2\r\n$1\r\nc\r\n$5\r\n1e+17\r\n"},
		{"ZRANGE z 0 1 LIMIT 0 1", "-ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX\r\n"},
		{"ZRANGE z + (b BYLEX REV", "*2\r\n$1\r\nd\r\n$1\r\nc\r\n"},
		{"ZREVRANK z c", ":1\r\n"},
		{"ZCOUNT z '' 1", ":1\r\n"},
		{"ZUNION 1 z WEIGHTS 0 WITHSCORES", "*8\r\n$1\r\na\r\n$1\r\n0\r\n$1\r\nb\r\n$1\r\n0\r\n$1\r\nc\r\n$1\r\n0\r\n$1\r\nd\r\n$1\r\n0\r\n"},
		{"ZUNIONSTORE d 0 z", "-ERR at least 1 input key is needed for 'zunionstore' command\r\n"},
		{"ZDIFFSTORE d 2 z none", ":4\r\n"},
		{"ZINTERCARD 2 z d LIMIT 2", ":2\r\n"},
		{"ZRANDMEMBER z 9", "*4\r\n$1\r\nd\r\n$1\r\nc\r\n$1\r\nb\r\n$1\r\na\r\n"},
		{"ZMPOP 1 z MIN COUNT 2", "*2\r\n$1\r\nz\r\n*2\r\n*2\r\n$1\r\na\r\n$1\r\n1\r\n*2\r\n$1\r\nb\r\n$3\r\n1.5\r\n"},
		{"ZREMRANGEBYRANK z 0 -1", ":2\r\n"},
		{"ZPOPMIN z", "*0\r\n"},
	})
}

func TestZSetRepliesInRESP3(t *testing.T) {
	h := newHarness(t)
	h.ctx.Proto = 3
	replies(t, h, [][2]string{
		{"ZADD z 1 a 2 b 3 c", ":3\r\n"},
		{"ZSCORE z a", ",1\r\n"},
		{"ZRANGE z 0 0 WITHSCORES", "*1\r\n*2\r\n$1\r\na\r\n,1\r\n"},
		{"ZPOPMIN z", "*2\r\n$1\r\na\r\n,1\r\n"},
		{"ZPOPMIN z 1", "*1\r\n*2\r\n$1\r\nb\r\n,2\r\n"},
		{"ZADD z INCR 1.5 c", ",4.5\r\n"},
		{"ZRANK z none", "_\r\n"},
		{"ZSCAN z 0", "*2\r\n$1\r\n0\r\n*2\r\n$1\r\nc\r\n$3\r\n4.5\r\n"},
	})
}
