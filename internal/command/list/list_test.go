package list_test

import (
	"testing"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/command/commandtest"
)

func TestListCommandsAnswerAsRedis(t *testing.T) {
	commandtest.New(t).Check(`
		rpush l a b c b => :4
		lindex l -1 => $1 b
		lindex l 9 => $-1
		linsert l after b x => :5
		linsert l before none x => :-1
		lrange l 1 2 => *2 $1 b $1 x
		lpos l b rank -1 => :4
		lpos l b count 0 => *2 :1 :4
		lrem l -1 b => :1
		lset l 9 x => -ERR index out of range
		lmove l l left right => $1 a
		lpop l 2 => *2 $1 b $1 x
		lpop none => $-1
		lpop none 1 => *-1
		lpop l 0 => *0
		lpop l -1 => -ERR value is out of range, must be positive
		lmpop 2 none l right count 5 => *2 $1 l *2 $1 a $1 c
		lmpop 1 l left => *-1
	`)
}

func TestRpoplpushAnnouncesThePushBeforeThePop(t *testing.T) {
	h := commandtest.New(t)
	h.Run("rpush a 1")
	h.Check("rpoplpush a b => $1 1 => new b, lpush b, rpop a, del a")
}

func TestABlockingCommandInATransactionAnswersAsAfterItsTimeout(t *testing.T) {
	h := commandtest.New(t)
	h.Ctx.From = command.FromExec
	h.Check(`
		blpop none 0 => *-1
		blmove none b left left 0 => $-1
		brpoplpush none b 0 => $-1
		bzpopmin none 0 => *-1
		blmpop 0 1 none left => *-1
		blpop none -1 => -ERR timeout is negative
		blpop none x => -ERR timeout is not a float or out of range
		blpop none inf => -ERR timeout is negative
	`)
}
