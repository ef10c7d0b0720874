package lockredistest

import (
	"fmt"
	"strings"
)

// Dump returns the keys of the database with their types, TTLs and values, sorted by name. It
// is for the log of a failed test. Its form may change: compare values with the getters.
func (k *Keyspace) Dump() string {
	var b strings.Builder
	for _, key := range k.Keys() {
		kind := k.Type(key)
		fmt.Fprintf(&b, "%q %s", key, kind)
		if ttl := k.TTL(key); ttl > 0 {
			fmt.Fprintf(&b, ", expires in %v", ttl)
		}
		b.WriteByte('\n')
		k.dumpValue(&b, key, kind)
	}
	return b.String()
}

// dumpValue writes a line for each part of a value.
func (k *Keyspace) dumpValue(b *strings.Builder, key, kind string) {
	switch kind {
	case "string":
		v, _ := k.Get(key)
		fmt.Fprintf(b, "\t%q\n", v)
	case "list":
		values, _ := k.List(key)
		for _, v := range values {
			fmt.Fprintf(b, "\t%q\n", v)
		}
	case "set":
		members, _ := k.SMembers(key)
		for _, m := range members {
			fmt.Fprintf(b, "\t%q\n", m)
		}
	case "hash":
		fields, _ := k.HKeys(key)
		for _, f := range fields {
			fmt.Fprintf(b, "\t%q: %q\n", f, k.HGet(key, f))
		}
	case "zset":
		members, _ := k.ZMembers(key)
		for _, m := range members {
			score, _ := k.ZScore(key, m)
			fmt.Fprintf(b, "\t%q: %s\n", m, decimal(score))
		}
	case "stream":
		entries, _ := k.Do("XRANGE", key, "-", "+")
		list, _ := entries.([]any)
		for _, entry := range list {
			parts := entry.([]any)
			fmt.Fprintf(b, "\t%s: %q\n", parts[0], parts[1])
		}
	}
}
