package persistence

import "testing"

// serverDir returns the directory of a server's file.
func serverDir(c *client) string { return string(c.ask("CONFIG", "GET", "dir").Elems[1].Str) }

func TestFilesKeepFrequenciesUnderAnLFUPolicy(t *testing.T) {
	redis := startOracle(t, "--maxmemory-policy", "allkeys-lfu")
	lfu := map[string]string{"maxmemory-policy": "allkeys-lfu"}
	dir := t.TempDir()
	_, lock := startInDir(t, dir, lfu)
	payload := string(redis.do("SET", "x", "value") + string(redis.ask("DUMP", "x").Str))[len("OK"):]
	for _, c := range []*client{redis, lock} {
		c.do("RESTORE", "often", "0", payload, "FREQ", "200")
		c.do("RESTORE", "seldom", "0", payload, "FREQ", "0")
		c.do("SAVE")
	}
	_, reader := startInDir(t, serverDir(redis), lfu)
	oracle := startOracle(t, "--dir", dir, "--maxmemory-policy", "volatile-lfu")
	for _, c := range []*client{reader, oracle} {
		for key, want := range map[string]string{"often": "200", "seldom": "0"} {
			if got := c.do("OBJECT", "FREQ", key); got != want && got != "199" {
				t.Errorf("%s: OBJECT FREQ %s is %s, want %s", c.name, key, got, want)
			}
		}
	}
}

func TestFilesKeepIdleTimesUnderAnLRUPolicy(t *testing.T) {
	redis := startOracle(t, "--maxmemory-policy", "volatile-lru")
	dir := t.TempDir()
	_, lock := startInDir(t, dir, map[string]string{"maxmemory-policy": "allkeys-lru"})
	redis.do("SET", "x", "value")
	payload := string(redis.ask("DUMP", "x").Str)
	for _, c := range []*client{redis, lock} {
		c.do("RESTORE", "k", "0", payload, "IDLETIME", "100000")
		c.do("SAVE")
	}
	_, reader := startInDir(t, serverDir(redis), nil)
	for _, c := range []*client{reader, startOracle(t, "--dir", dir)} {
		if got := c.do("OBJECT", "IDLETIME", "k"); len(got) != 6 || got[:4] != "1000" {
			t.Errorf("%s: OBJECT IDLETIME is %s", c.name, got)
		}
	}
}
