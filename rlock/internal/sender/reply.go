package sender

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
)

// final reports whether a further copy is of no use: the server has answered, or the
// go-redis client is closed. (A cluster client also closes clients of nodes that left.)
func (c *Sender) final(err error) bool {
	return Answered(err) || c.topo.single && errors.Is(err, redis.ErrClosed)
}

// Answered reports whether the server gave its final answer, so that a further
// copy is of no use: err is nil, Config.NotSynced, or an error reply that is not
// temporary.
func Answered(err error) bool {
	if err == nil || isNotSynced(err) {
		return true
	}
	var e redis.Error
	return errors.As(err, &e) && !isTemporary(e)
}

// notSynced is the error of a request that has run, but that too few replicas have confirmed.
type notSynced struct{ error }

func (e notSynced) Unwrap() error { return e.error }

func isNotSynced(err error) bool {
	_, not := errors.AsType[notSynced](err)
	return not
}

// mayArrive reports whether a copy that failed with err may still reach the
// server, or may have reached it. An error reply and a refused connection say that
// the script did not run, and so does a request that was never sent.
func mayArrive(err error) bool {
	if err == nil || isNotSynced(err) {
		return false
	}
	var reply redis.Error
	var op *net.OpError
	var queued unsent
	switch {
	case errors.As(err, &queued):
		return false
	case errors.As(err, &reply):
		return ranOnReplica(reply)
	case errors.As(err, &op):
		return op.Op != "dial"
	}
	return !gotNoConnection(err) && !errors.Is(err, redis.ErrClosed)
}

var temporaryErrors = []string{
	"LOADING ", "READONLY ", "CLUSTERDOWN ", "TRYAGAIN ", "MASTERDOWN ", "BUSY ",
	"NOREPLICAS ", "MOVED ", "ASK ", "ERR max number of clients reached", waitOnReplica, unblocked,
}

// These replies to WAIT mean that the master has become a replica. The script before
// WAIT has run, and the new master may have its result.
const (
	waitOnReplica = "ERR WAIT cannot be used with replica instances"
	unblocked     = "UNBLOCKED "
)

func ranOnReplica(e redis.Error) bool {
	return strings.HasPrefix(e.Error(), waitOnReplica) || strings.HasPrefix(e.Error(), unblocked)
}

// isTemporary reports whether e is an error reply after which a further copy may
// succeed.
func isTemporary(e redis.Error) bool {
	for _, prefix := range temporaryErrors {
		if strings.HasPrefix(e.Error(), prefix) {
			return true
		}
	}
	return false
}

// IsServerError reports whether err is an error reply of the server, such as MOVED.
func IsServerError(err error) bool {
	_, ok := errors.AsType[redis.Error](err)
	return ok
}

// replyText returns the text of the error reply that err is or wraps, or "".
func replyText(err error) string {
	if e, ok := errors.AsType[redis.Error](err); ok {
		return e.Error()
	}
	return ""
}

// FailedInside reports whether err is the error reply of a command inside a script. The
// commands before it have run.
func FailedInside(err error) bool { return strings.Contains(replyText(err), "user_script") }

// isTryAgain reports whether a script with several keys was refused because their
// slot of a cluster is moving.
func isTryAgain(err error) bool {
	return err != nil && strings.HasPrefix(err.Error(), "TRYAGAIN ")
}

func noScript(err error) bool { return err != nil && strings.HasPrefix(err.Error(), "NOSCRIPT") }

// redirected returns the address in a MOVED or ASK error.
func redirected(err error) (addr string, asking, ok bool) {
	if err == nil {
		return "", false, false
	}
	text := err.Error()
	asking = strings.HasPrefix(text, "ASK ")
	if !asking && !strings.HasPrefix(text, "MOVED ") {
		return "", false, false
	}
	return text[strings.LastIndexByte(text, ' ')+1:], asking, true
}

// staleTime is how fast a copy fails on a connection that broke before.
const staleTime = 10 * time.Millisecond

// staleError is the error of a copy whose connection was broken before. The pool may have
// many such connections; go-redis notices them only when it uses them, unless they are
// plain TCP.
type staleError struct{ error }

func (e staleError) Unwrap() error { return e.error }

// stale reports whether a copy that was sent at the given time failed because its connection
// was broken before.
func stale(err error, sent time.Time) bool {
	if err == nil || time.Since(sent) > staleTime {
		return false
	}
	for _, broken := range []error{
		io.EOF, io.ErrUnexpectedEOF, io.ErrClosedPipe, net.ErrClosed, syscall.EPIPE, syscall.ECONNRESET,
	} {
		if errors.Is(err, broken) {
			return true
		}
	}
	return false
}

// staleCopies counts the copies of a request that failed on connections that were broken
// before.
type staleCopies struct {
	server *server
	n      int // copies that were followed by another one
	most   int // the most that may be
}

// again reports whether to send another copy after one that failed with err.
func (s *staleCopies) again(err error) bool {
	if _, broken := errors.AsType[staleError](err); !broken {
		return false
	}
	if s.n == 0 {
		s.most = s.server.maxStale()
	}
	if s.n == s.most {
		return false
	}
	s.n++
	return true
}

// ReadInts returns the integers of an array, at least n of them.
func ReadInts(reply any, n int) ([]int64, error) {
	values, _ := reply.([]any)
	numbers := make([]int64, 0, n)
	for _, v := range values {
		if i, ok := v.(int64); ok {
			numbers = append(numbers, i)
		}
	}
	if len(numbers) < n {
		return nil, UnexpectedReply(reply)
	}
	return numbers, nil
}

// ReadInt returns an integer reply. An err that is not nil is returned as it is.
func ReadInt(reply any, err error) (int64, error) {
	if err != nil {
		return 0, err
	}
	n, ok := reply.(int64)
	if !ok {
		return 0, UnexpectedReply(reply)
	}
	return n, nil
}

func UnexpectedReply(reply any) error { return fmt.Errorf("rlock: unexpected reply %v", reply) }
