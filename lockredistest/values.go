package lockredistest

import "strconv"

// This file has the setters and getters of counters, lists, hashes, sets and sorted sets.

// decimal returns f as the server reads it.
func decimal(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// flag runs a command that replies with 0 or 1.
func (k *Keyspace) flag(args ...string) (bool, error) {
	n, err := k.integer(args...)
	return n == 1, err
}

// double runs a command that replies with a number, as a double or as text. A nil reply is
// ErrKeyNotFound.
func (k *Keyspace) double(args ...string) (float64, error) {
	reply, err := k.Do(args...)
	switch v := reply.(type) {
	case float64:
		return v, err
	case string:
		return strconv.ParseFloat(v, 64)
	}
	if err == nil {
		err = ErrKeyNotFound
	}
	return 0, err
}

// Incr adds delta to a counter and returns its new value. A missing key counts as 0.
func (k *Keyspace) Incr(key string, delta int) (int, error) {
	return k.integer("INCRBY", key, strconv.Itoa(delta))
}

// IncrByFloat is Incr for a counter that has decimals.
func (k *Keyspace) IncrByFloat(key string, delta float64) (float64, error) {
	return k.double("INCRBYFLOAT", key, decimal(delta))
}

// RPush is Push.
func (k *Keyspace) RPush(key string, values ...string) (int, error) {
	return k.Push(key, values...)
}

// LPush puts values before the first one of a list, one after the other, and returns the
// list's new length.
func (k *Keyspace) LPush(key string, values ...string) (int, error) {
	return k.integer(append([]string{"LPUSH", key}, values...)...)
}

// Pop takes the last value from a list.
func (k *Keyspace) Pop(key string) (string, error) { return k.text("RPOP", key) }

// LPop takes the first value from a list.
func (k *Keyspace) LPop(key string) (string, error) { return k.text("LPOP", key) }

// HDel deletes fields of a hash and returns how many there were.
func (k *Keyspace) HDel(key string, fields ...string) (int, error) {
	return k.integer(append([]string{"HDEL", key}, fields...)...)
}

// HKeys returns the fields of a hash, sorted.
func (k *Keyspace) HKeys(key string) ([]string, error) { return sorted(k.list("HKEYS", key)) }

// HIncrBy adds delta to a counter in a hash and returns its new value. A missing field counts
// as 0.
func (k *Keyspace) HIncrBy(key, field string, delta int) (int, error) {
	return k.integer("HINCRBY", key, field, strconv.Itoa(delta))
}

// HIncrByFloat is HIncrBy for a counter that has decimals.
func (k *Keyspace) HIncrByFloat(key, field string, delta float64) (float64, error) {
	return k.double("HINCRBYFLOAT", key, field, decimal(delta))
}

// SAdd adds members to a set and returns how many are new.
func (k *Keyspace) SAdd(key string, members ...string) (int, error) {
	return k.integer(append([]string{"SADD", key}, members...)...)
}

// SRem removes members from a set and returns how many there were.
func (k *Keyspace) SRem(key string, members ...string) (int, error) {
	return k.integer(append([]string{"SREM", key}, members...)...)
}

// SMembers returns the members of a set, sorted.
func (k *Keyspace) SMembers(key string) ([]string, error) { return sorted(k.list("SMEMBERS", key)) }

// SIsMember reports whether a set has a member. A missing key is ErrKeyNotFound.
func (k *Keyspace) SIsMember(key, member string) (bool, error) {
	has, err := k.flag("SISMEMBER", key, member)
	if err == nil && !has && !k.Exists(key) {
		err = ErrKeyNotFound
	}
	return has, err
}

// SCard returns how many members a set has. It is 0 for a missing key.
func (k *Keyspace) SCard(key string) (int, error) { return k.integer("SCARD", key) }

// SRandMember returns a member of a set by chance. See Server.Seed.
func (k *Keyspace) SRandMember(key string) (string, error) { return k.text("SRANDMEMBER", key) }

// ZAdd sets a member's score in a sorted set and reports whether the member is new.
func (k *Keyspace) ZAdd(key string, score float64, member string) (bool, error) {
	return k.flag("ZADD", key, decimal(score), member)
}

// ZRem removes a member from a sorted set and reports whether it was there.
func (k *Keyspace) ZRem(key, member string) (bool, error) { return k.flag("ZREM", key, member) }

// ZScore returns a member's score. A missing member is ErrKeyNotFound.
func (k *Keyspace) ZScore(key, member string) (float64, error) {
	return k.double("ZSCORE", key, member)
}

// ZMembers returns the members of a sorted set, the one with the lowest score first.
func (k *Keyspace) ZMembers(key string) ([]string, error) {
	return k.list("ZRANGE", key, "0", "-1")
}

// SortedSet returns the members of a sorted set with their scores.
func (k *Keyspace) SortedSet(key string) (map[string]float64, error) {
	reply, err := k.Do("ZRANGE", key, "0", "-1", "WITHSCORES")
	pairs, _ := reply.([]any)
	if err == nil && len(pairs) == 0 {
		err = ErrKeyNotFound
	}
	if err != nil {
		return nil, err
	}
	scores := make(map[string]float64, len(pairs))
	for _, pair := range pairs {
		item := pair.([]any)
		scores[item[0].(string)] = item[1].(float64)
	}
	return scores, nil
}

// Type returns a key's type: "string", "hash", "list", "set", "zset" or "stream". It is ""
// for a missing key.
func (k *Keyspace) Type(key string) string {
	if kind, _ := k.text("TYPE", key); kind != "none" {
		return kind
	}
	return ""
}

// RandomKey returns a key by chance, "" when there is none. See Server.Seed.
func (k *Keyspace) RandomKey() string {
	key, _ := k.text("RANDOMKEY")
	return key
}

// Persist removes a key's TTL and reports whether it had one.
func (k *Keyspace) Persist(key string) bool {
	had, _ := k.flag("PERSIST", key)
	return had
}

// FlushDB deletes all keys of the database.
func (k *Keyspace) FlushDB() { k.Do("FLUSHDB") }
