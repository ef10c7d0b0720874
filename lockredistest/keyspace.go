package lockredistest

import (
	"math"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/lockredis/lockredis/internal/engine"
	"github.com/lockredis/lockredis/resp"
)

// Keyspace is one database, read and written by the test itself, without a
// client. A change is one as any client's: waiters are served, watchers and
// listeners hear of it.
//
// Names and results are those of miniredis. Errors are ErrKeyNotFound,
// ErrWrongType, or an Error with the server's text.
type Keyspace struct {
	engine *engine.Engine
	db     int
}

// Error is an error reply, as the server sends it: "ERR syntax error".
type Error string

// Error returns the server's text.
func (e Error) Error() string { return string(e) }

const (
	// ErrKeyNotFound says that the key is missing, or the element of it that was
	// asked for.
	ErrKeyNotFound = Error("ERR no such key")
	// ErrWrongType says that the key holds another type.
	ErrWrongType = Error("WRONGTYPE Operation against a key holding the wrong kind of value")
)

// Do runs any command that is not about its connection (no MULTI, SUBSCRIBE,
// AUTH). CLIENT PAUSE does not hold it back, and a blocking one does not wait.
//
// The reply is nil, an int64, float64, bool or string, a []any of these, or for
// commands that answer with a map (HGETALL) a map[string]any.
func (k *Keyspace) Do(args ...string) (reply any, err error) {
	words := make(resp.Args, len(args))
	for i, a := range args {
		words[i] = []byte(a)
	}
	if len(args) == 0 {
		return nil, Error("ERR no command")
	}
	k.engine.Call(k.db, words, func(r resp.Reply) {
		if r.IsError() {
			err = Error(r.Text())
			return
		}
		reply = value(r)
	})
	return reply, err
}

// value copies a reply out of the engine.
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

// text, integer and list run a command whose reply is known to be one. A nil
// reply is ErrKeyNotFound.
func (k *Keyspace) text(args ...string) (string, error) {
	reply, err := k.Do(args...)
	if err == nil && reply == nil {
		err = ErrKeyNotFound
	}
	s, _ := reply.(string)
	return s, err
}

func (k *Keyspace) integer(args ...string) (int, error) {
	reply, err := k.Do(args...)
	n, _ := reply.(int64)
	return int(n), err
}

// list returns ErrKeyNotFound for no elements: there are no empty keys.
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

func words(first, second string, more []string) []string {
	return append([]string{first, second}, more...)
}

// Keys returns the names of all keys, sorted.
func (k *Keyspace) Keys() []string {
	names, _ := k.list("KEYS", "*")
	sort.Strings(names)
	return names
}

// Exists reports whether the key is there.
func (k *Keyspace) Exists(key string) bool {
	n, _ := k.integer("EXISTS", key)
	return n == 1
}

// Del deletes a key and reports whether it was there.
func (k *Keyspace) Del(key string) bool {
	n, _ := k.integer("DEL", key)
	return n == 1
}

// Type returns "string", "hash", "list", "set" or "zset", "" for a missing key.
func (k *Keyspace) Type(key string) string {
	name, _ := k.text("TYPE", key)
	if name == "none" {
		return ""
	}
	return name
}

// TTL returns how long the key will live, to the millisecond. It is 0 for a key
// that does not expire and for one that is missing.
func (k *Keyspace) TTL(key string) time.Duration {
	ms, _ := k.integer("PTTL", key)
	return time.Duration(max(ms, 0)) * time.Millisecond
}

// SetTTL makes a key expire after ttl, which is rounded up to a millisecond; 0
// or less makes it stay. A missing key stays missing.
func (k *Keyspace) SetTTL(key string, ttl time.Duration) {
	if ttl <= 0 {
		k.Do("PERSIST", key)
		return
	}
	ms := (ttl + time.Millisecond - 1) / time.Millisecond
	k.Do("PEXPIRE", key, strconv.FormatInt(int64(ms), 10))
}

// FlushDB deletes all keys of the database.
func (k *Keyspace) FlushDB() { k.Do("FLUSHDB") }

// Set stores a string, as SET does: whatever the key held is gone, and so is its
// TTL.
func (k *Keyspace) Set(key, value string) error {
	_, err := k.Do("SET", key, value)
	return err
}

// Get returns a string.
func (k *Keyspace) Get(key string) (string, error) { return k.text("GET", key) }

// Incr adds delta to a number and returns the sum.
func (k *Keyspace) Incr(key string, delta int) (int, error) {
	return k.integer("INCRBY", key, strconv.Itoa(delta))
}

// HSet sets fields of a hash: a field, its value, and so on.
func (k *Keyspace) HSet(key string, fieldsAndValues ...string) error {
	_, err := k.Do(words("HSET", key, fieldsAndValues)...)
	return err
}

// HGet returns the value of a hash's field, "" if there is none or the key is no
// hash.
func (k *Keyspace) HGet(key, field string) string {
	v, _ := k.text("HGET", key, field)
	return v
}

// HDel deletes fields of a hash.
func (k *Keyspace) HDel(key string, fields ...string) error {
	_, err := k.Do(words("HDEL", key, fields)...)
	return err
}

// HKeys returns the fields of a hash, sorted.
func (k *Keyspace) HKeys(key string) ([]string, error) {
	fields, err := k.list("HKEYS", key)
	sort.Strings(fields)
	return fields, err
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
	return k.integer(words("RPUSH", key, values)...)
}

// Lpush puts a value at the head of a list and returns its new length.
func (k *Keyspace) Lpush(key, value string) (int, error) { return k.integer("LPUSH", key, value) }

// Pop takes the last value off a list (RPOP).
func (k *Keyspace) Pop(key string) (string, error) { return k.text("RPOP", key) }

// Lpop takes the first value off a list.
func (k *Keyspace) Lpop(key string) (string, error) { return k.text("LPOP", key) }

// List returns the values of a list in their order.
func (k *Keyspace) List(key string) ([]string, error) { return k.list("LRANGE", key, "0", "-1") }

// SAdd adds members to a set and returns how many are new.
func (k *Keyspace) SAdd(key string, members ...string) (int, error) {
	return k.integer(words("SADD", key, members)...)
}

// SMembers returns the members of a set, sorted.
func (k *Keyspace) SMembers(key string) ([]string, error) {
	members, err := k.list("SMEMBERS", key)
	sort.Strings(members)
	return members, err
}

// SIsMember reports whether a set has the member.
func (k *Keyspace) SIsMember(key, member string) (bool, error) {
	n, err := k.integer("SISMEMBER", key, member)
	return n == 1, err
}

// ZAdd gives a member of a sorted set its score and reports whether it is new.
func (k *Keyspace) ZAdd(key string, score float64, member string) (bool, error) {
	n, err := k.integer("ZADD", key, strconv.FormatFloat(score, 'g', 17, 64), member)
	return n == 1, err
}

// ZScore returns a member's score.
func (k *Keyspace) ZScore(key, member string) (float64, error) {
	reply, err := k.Do("ZSCORE", key, member)
	score, ok := reply.(float64)
	if err == nil && !ok {
		err = ErrKeyNotFound
	}
	if err != nil {
		return math.NaN(), err
	}
	return score, nil
}

// ZMembers returns the members of a sorted set, the least score first.
func (k *Keyspace) ZMembers(key string) ([]string, error) {
	return k.list("ZRANGE", key, "0", "-1")
}

// Publish sends a message and returns how many clients got it.
func (k *Keyspace) Publish(channel, message string) int {
	n, _ := k.integer("PUBLISH", channel, message)
	return n
}
