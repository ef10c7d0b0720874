package redistest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lockredis/lockredis/internal/cluster"
)

// slotsDirective is lockredis's own: the slots that a cluster node owns at its start.
const slotsDirective = "--cluster-slots"

// StartNode is Start for a cluster of one redis-server. The node owns the slots of the
// argument "--cluster-slots", which redis-server does not get, or else all slots. It waits
// until the cluster serves commands, which takes redis-server two seconds. A cluster that
// stays down, because slots are missing, is not waited for.
func StartNode(tb testing.TB, args ...string) *Server {
	tb.Helper()
	owned := cluster.All()
	if i := slices.Index(args, slotsDirective); i >= 0 {
		end := i + 1
		for end < len(args) && !strings.HasPrefix(args[end], "--") {
			end++
		}
		var err error
		if owned, err = cluster.ParseSet(args[i+1 : end]); err != nil {
			tb.Fatalf("%s: %v", slotsDirective, err)
		}
		args = slices.Concat(args[:i], args[end:])
	}
	if !slices.Contains(args, "--cluster-enabled") {
		args = append([]string{"--cluster-enabled", "yes"}, args...)
	}
	if !slices.Contains(args, "--cluster-port") { // its own choice may not be free
		bus, err := FreePort()
		if err != nil {
			tb.Fatal(err)
		}
		args = append(slices.Clone(args), "--cluster-port", bus)
	}
	s := Start(tb, args...)
	for r := range owned.Ranges() {
		v, err := s.do("CLUSTER", "ADDSLOTSRANGE", strconv.Itoa(r.First), strconv.Itoa(r.Last))
		if err != nil || v.IsError() {
			tb.Fatalf("give slots %v to %s: %s %v", r, s.Addr, v, err)
		}
	}
	if err := s.awaitSlots(&owned); err != nil {
		tb.Fatal(err)
	}
	return s
}

// awaitSlots waits until the node serves commands if the slots that it owns suffice.
func (s *Server) awaitSlots(owned *cluster.Set) error {
	v, err := s.do("CONFIG", "GET", "cluster-require-full-coverage")
	if err != nil || len(v.Elems) != 2 {
		return fmt.Errorf("configuration of %s: %s %w", s.Addr, v, err)
	}
	if owned.Len() == 0 || owned.Len() < cluster.Slots && string(v.Elems[1].Str) == "yes" {
		return nil
	}
	deadline := time.Now().Add(startLimit)
	for {
		v, err := s.do("CLUSTER", "INFO")
		switch {
		case err != nil:
			return err
		case strings.HasPrefix(string(v.Str), "cluster_state:ok"):
			return nil
		case time.Now().After(deadline):
			return fmt.Errorf("the cluster of %s is down after %s: %s", s.Addr, startLimit, v)
		}
		time.Sleep(20 * time.Millisecond)
	}
}
