package rlock

import "strings"

// prefixed returns Redisson's name for what belongs to an object: prefix:{name},
// so that it shares the object's slot in a cluster (RedissonObject.prefixName).
func prefixed(prefix, name string) string {
	var b [128]byte
	return string(appendPrefixed(b[:0], prefix, name))
}

func appendPrefixed(b []byte, prefix, name string) []byte {
	b = append(append(b, prefix...), ':')
	if strings.Contains(name, "{") {
		return append(b, name...)
	}
	return append(append(append(b, '{'), name...), '}')
}

// suffixed is {name}:suffix (RedissonObject.suffixName).
func suffixed(name, suffix string) string {
	if strings.Contains(name, "{") {
		return name + ":" + suffix
	}
	return "{" + name + "}:" + suffix
}
