package replication

import (
	"strings"
	"testing"
)

// A replica sends what no replica sends. Redis closes the connection when there is a reply.
func TestAReplicaThatSendsCommandsIsTreatedAsByRedis(t *testing.T) {
	servers := []*server{primary(t, nil), redis(t)}
	for _, line := range []string{
		"GET k", "NOSUCH", "SET k v", "BLPOP l 1", "MULTI", "EXEC", "RESET", "SUBSCRIBE ch", "HELLO 3",
		"CLIENT REPLY ON", "REPLCONF listening-port 9", "WAIT 0 0", "MONITOR", "SYNC", "REPLCONF GETACK *",
		"CLIENT REPLY OFF",
	} {
		var stays [2]bool
		for i, p := range servers {
			r := p.another()
			r.do("REPLCONF", "listening-port", "7")
			if err := r.conn.SendAll([]string{"PSYNC", "?", "-1"}, strings.Fields(line)); err != nil {
				t.Fatal(err)
			}
			p.await("the end of "+line, func() bool {
				list := string(p.do("CLIENT", "LIST", "TYPE", "replica").Str)
				stays[i] = list != ""
				return p.info("stats")["sync_full"] != "0" &&
					(!stays[i] || !strings.Contains(list, "cmd=psync "))
			})
			if v := p.do("EXISTS", "k"); v.String() != ":0" {
				t.Errorf("%s of a replica is run", line)
			}
			if err := r.conn.Close(); err != nil {
				t.Fatal(err)
			}
			p.await("no replica", func() bool { return p.info("replication")["connected_slaves"] == "0" })
			p.do("CONFIG", "RESETSTAT")
		}
		if stays[0] != stays[1] {
			t.Errorf("%s: the connection stays at lockredis %v, at redis-server %v", line, stays[0], stays[1])
		}
	}
}
