//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// base names the server that is built from the other commit.
const base = "base"

// compareCommits measures the working tree beside another commit. It runs the cases in
// which a change of the engine or the server is most likely to show.
func compareCommits(b *bench) error {
	if err := b.buildCommit(b.settings.base); err != nil {
		return err
	}
	b.servers = []string{base, lockredis}
	measure := func(name, unit string, m func(*server) (figures, error)) error {
		all, err := b.onEach(b.rounds, m)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		b.addAgainst(base, name, unit, all["rate"], nil)
		return nil
	}
	for _, pipeline := range []int{1, 16} {
		name := fmt.Sprintf("lock and unlock by EVALSHA, pipeline %d", pipeline)
		pairs, err := b.onEach(b.rounds, func(s *server) (figures, error) {
			return b.costOfPairs(s, pipeline)
		})
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		b.addAgainst(base, name, "pairs/s", pairs["rate"], nil)
		b.addAgainst(base, name+", CPU of the server", "µs/pair", pairs["cpu"], nil)
		for _, st := range []step{{[]string{"SET", lockName, "value"}, "+OK\r\n"},
			{[]string{"GET", lockName}, "$5\r\nvalue\r\n"}} {
			if err := measure(fmt.Sprintf("%s, pipeline %d", st.Args[0], pipeline), "/s",
				func(s *server) (figures, error) {
					return b.load(s, crowdSize, pipeline, []step{{[]string{"SET", lockName, "value"}, "+OK\r\n"}},
						[]step{st}, b.span)
				}); err != nil {
				return err
			}
		}
	}
	if err := measure("one connection, sequential: lock and unlock", "pairs/s",
		func(s *server) (figures, error) {
			r, err := playOnce[latencyResult]("latency",
				latencySpec{Addr: s.addr, Steps: s.lockSteps(), Span: b.span})
			return figures{"rate": r.Rate}, err
		}); err != nil {
		return err
	}
	fmt.Print(b.markdown())
	return nil
}

// buildCommit builds another commit from a copy of its sources.
func (b *bench) buildCommit(commit string) error {
	tree, archive := b.path("tree"), b.path("tree.tar")
	if err := os.Mkdir(tree, 0o755); err != nil {
		return err
	}
	for _, command := range [][]string{
		{"git", "-C", "../..", "archive", "-o", archive, commit},
		{"tar", "-x", "-f", archive, "-C", tree},
	} {
		if out, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", strings.Join(command, " "), err, out)
		}
	}
	return build(tree, b.path(base))
}
