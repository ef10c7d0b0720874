package config

import "strings"

// Eviction is the directives about the keys that go when maxmemory is exceeded.
type Eviction struct {
	Policy       string // maxmemory-policy
	Samples      int    // maxmemory-samples
	Tenacity     int    // maxmemory-eviction-tenacity, from 0 to 100
	LogFactor    int    // lfu-log-factor
	DecayMinutes int    // lfu-decay-time
}

// PerKey reports whether the policy goes by the accesses of each key: LRU or LFU.
func (e Eviction) PerKey() bool {
	return strings.HasSuffix(e.Policy, "-lru") || strings.HasSuffix(e.Policy, "-lfu")
}

// Lazyfree is the lazyfree-lazy directives: which deletions INFO counts in lazyfreed_objects.
type Lazyfree struct {
	Eviction  bool // evicted keys
	Expire    bool // expired keys
	ServerDel bool // values that a command replaces, or deletes as its side effect
	UserDel   bool // DEL counts as UNLINK does
	UserFlush bool // FLUSHALL, FLUSHDB, SCRIPT FLUSH and FUNCTION FLUSH are ASYNC by default
}
