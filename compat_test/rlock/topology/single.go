package topology

import (
	"testing"

	"github.com/lockredis/lockredis"
)

func startLockredis(tb testing.TB) *Topology {
	tb.Helper()
	srv := lockredis.New(lockredis.Config{})
	if err := srv.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := srv.Close(); err != nil {
			tb.Error(err)
		}
	})
	return &Topology{Kind: Lockredis, addrs: []string{srv.Addr()}}
}

func startSingle(tb testing.TB, kind Kind, program string) *Topology {
	tb.Helper()
	n := newNode(tb, program, dataConf())
	return &Topology{Kind: kind, Nodes: []*Node{n}, addrs: []string{n.Addr}}
}
