package lockredistest

import (
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/lockredis/lockredis/internal/inspect"
	"github.com/lockredis/lockredis/resp"
)

// Keyspace is one database. The test reads and writes it directly, without a client. A
// write has the same effects as a client's: it serves waiting clients, touches watched keys
// and sends events.
//
// Methods that miniredis has too have its names and results. Errors are ErrKeyNotFound, or
// an Error with the server's text.
type Keyspace struct {
	server *Server
	number atomic.Int64 // of the database
}

// Error is an error reply, as the server sends it: "ERR syntax error".
type Error string

// Error returns the server's text.
func (e Error) Error() string { return string(e) }

// ErrKeyNotFound says that the key is missing.
const ErrKeyNotFound = Error("ERR no such key")

// Errors of commands that miniredis has a name for, too.
const (
	// ErrWrongType says that the key holds a value of another type.
	ErrWrongType = Error("WRONGTYPE Operation against a key holding the wrong kind of value")
	// ErrNotValidHllValue says that the key holds a string that is no HyperLogLog.
	ErrNotValidHllValue = Error("WRONGTYPE Key is not a valid HyperLogLog string value.")
	// ErrIntValueError says that the value, or an argument, is no integer.
	ErrIntValueError = Error("ERR value is not an integer or out of range")
	// ErrIntValueOverflowError says that a counter would overflow.
	ErrIntValueOverflowError = Error("ERR increment or decrement would overflow")
	// ErrFloatValueError says that the value, or an argument, is no number.
	ErrFloatValueError = Error("ERR value is not a valid float")
)

// errNoReply is the error of a command that panicked outside of its handler.
const errNoReply = Error("ERR internal error: the server's log has a panic, see the option Logger")

// Do runs any command that does not need a connection. MULTI, SUBSCRIBE, AUTH and the like
// return an error. CLIENT PAUSE does not hold the command back, and a blocking command
// answers at once, as if it had timed out. MIGRATE returns an error, because Do does not wait for
// another server: send it by a client.
//
// The reply is nil, an int64, float64, bool or string, or a []any of these. A command that
// replies with a map, such as HGETALL, returns a map[string]any.
func (k *Keyspace) Do(args ...string) (reply any, err error) {
	if len(args) == 0 {
		return nil, Error("ERR no command")
	}
	words := make(resp.Args, len(args))
	for i, a := range args {
		words[i] = []byte(a)
	}
	err = errNoReply
	door(k.server).Call(int(k.number.Load()), words, func(r resp.Reply) {
		if r.IsError() {
			err = Error(strings.Clone(r.Text()))
			return
		}
		reply, err = value(r), nil
	})
	return reply, err
}

// value returns a reply as a Go value, which shares no memory with the server.
func value(r resp.Reply) any {
	switch r.Kind() {
	case resp.None, resp.KindNil, resp.KindNilArray:
		return nil
	case resp.KindInt:
		return r.Int()
	case resp.KindBool:
		return r.Int() != 0
	case resp.KindDouble:
		return r.Double()
	case resp.KindError:
		return Error(strings.Clone(r.Text()))
	case resp.KindArray, resp.KindSet, resp.KindPush, resp.KindSequence:
		list := make([]any, len(r.Elems()))
		for i, e := range r.Elems() {
			list[i] = value(e)
		}
		return list
	case resp.KindMap:
		m := make(map[string]any, len(r.Elems())/2)
		for i := 0; i+1 < len(r.Elems()); i += 2 {
			m[strings.Clone(r.Elems()[i].Text())] = value(r.Elems()[i+1])
		}
		return m
	}
	return strings.Clone(r.Text())
}

// text runs a command that replies with a string. A nil reply is ErrKeyNotFound.
func (k *Keyspace) text(args ...string) (string, error) {
	reply, err := k.Do(args...)
	if err == nil && reply == nil {
		err = ErrKeyNotFound
	}
	s, _ := reply.(string)
	return s, err
}

// integer runs a command that replies with an integer.
func (k *Keyspace) integer(args ...string) (int, error) {
	reply, err := k.Do(args...)
	n, _ := reply.(int64)
	return int(n), err
}

// list runs a command that replies with strings. No strings are ErrKeyNotFound: a list, a
// set or a hash without elements does not exist.
func (k *Keyspace) list(args ...string) ([]string, error) {
	reply, err := k.Do(args...)
	elems, _ := reply.([]any)
	if err == nil && len(elems) == 0 {
		err = ErrKeyNotFound
	}
	if err != nil {
		return nil, err
	}
	texts := make([]string, len(elems))
	for i, e := range elems {
		texts[i], _ = e.(string)
	}
	return texts, nil
}

// sorted sorts texts, unless there is an error.
func sorted(texts []string, err error) ([]string, error) {
	slices.Sort(texts)
	return texts, err
}

// Keys returns the names of all keys, sorted. It is not nil without keys.
func (k *Keyspace) Keys() []string {
	names, _ := sorted(k.list("KEYS", "*"))
	return append([]string{}, names...)
}

// Exists reports whether the key exists.
func (k *Keyspace) Exists(key string) bool {
	n, _ := k.integer("EXISTS", key)
	return n == 1
}

// Del deletes a key and reports whether it existed.
func (k *Keyspace) Del(key string) bool {
	n, _ := k.integer("DEL", key)
	return n == 1
}

// TTL returns how long the key will live, in whole milliseconds. It is 0 for a key that
// does not expire and for a missing key. It is the longest Duration for a key that lives longer.
func (k *Keyspace) TTL(key string) time.Duration {
	ms, _ := k.integer("PTTL", key)
	return inspect.Millis(max(int64(ms), 0))
}

// SetTTL makes a key expire after ttl, which is rounded up to a millisecond. With a ttl of
// 0 or less the key no longer expires. A missing key stays missing.
func (k *Keyspace) SetTTL(key string, ttl time.Duration) {
	if ttl <= 0 {
		k.Do("PERSIST", key)
		return
	}
	ms := (ttl-1)/time.Millisecond + 1
	k.Do("PEXPIRE", key, strconv.FormatInt(int64(ms), 10))
}

// Set stores a string, as SET does: an old value of any type and the TTL are gone.
func (k *Keyspace) Set(key, value string) error {
	_, err := k.Do("SET", key, value)
	return err
}

// Get returns a string.
func (k *Keyspace) Get(key string) (string, error) { return k.text("GET", key) }

// HSet sets fields of a hash. Fields and values alternate.
func (k *Keyspace) HSet(key string, fieldsAndValues ...string) error {
	_, err := k.Do(append([]string{"HSET", key}, fieldsAndValues...)...)
	return err
}

// HGet returns the value of a hash's field. It is "" if the field is missing or the key is
// not a hash.
func (k *Keyspace) HGet(key, field string) string {
	v, _ := k.text("HGET", key, field)
	return v
}

// HGetAll returns the fields of a hash with their values.
func (k *Keyspace) HGetAll(key string) (map[string]string, error) {
	reply, err := k.Do("HGETALL", key)
	fields, _ := reply.(map[string]any)
	if err == nil && len(fields) == 0 {
		err = ErrKeyNotFound
	}
	if err != nil {
		return nil, err
	}
	hash := make(map[string]string, len(fields))
	for f, v := range fields {
		hash[f], _ = v.(string)
	}
	return hash, nil
}

// Push appends to a list (RPUSH) and returns its new length.
func (k *Keyspace) Push(key string, values ...string) (int, error) {
	return k.integer(append([]string{"RPUSH", key}, values...)...)
}

// List returns the values of a list in their order.
func (k *Keyspace) List(key string) ([]string, error) { return k.list("LRANGE", key, "0", "-1") }

// Publish sends a message and returns how many clients received it.
func (k *Keyspace) Publish(channel, message string) int {
	n, _ := k.integer("PUBLISH", channel, message)
	return n
}
