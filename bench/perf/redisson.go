//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// redisson runs 32 threads of Redisson on 16 locks, so that threads often wait for each
// other.
func redisson(b *bench) error {
	if b.short {
		b.note("Redisson is left out of a short run.")
		return nil
	}
	classpath, err := b.buildRedisson()
	if err != nil {
		b.note("Redisson is left out: %v", err)
		return nil
	}
	all, err := b.onEach(1, func(s *server) (figures, error) { return b.redissonLoad(s, classpath) })
	if err != nil {
		return err
	}
	b.add("Redisson 4.7.0, 32 threads on 16 locks: lock and unlock", "pairs/s", all["rate"], nil)
	b.add("Redisson 4.7.0, 32 threads on 16 locks: p50 of a pair", "µs", all["p50"], nil)
	b.add("Redisson 4.7.0, 32 threads on 16 locks: p99 of a pair", "µs", all["p99"], nil)
	return nil
}

// buildRedisson compiles java/ and returns the class path.
func (b *bench) buildRedisson() (string, error) {
	for _, tool := range []string{"mvn", "java"} {
		if _, err := exec.LookPath(tool); err != nil {
			return "", fmt.Errorf("there is no %s", tool)
		}
	}
	target := b.path("java")
	if out, err := exec.Command("mvn", "-q", "-B", "-f", "java", "-Dtarget="+target,
		"process-classes").CombinedOutput(); err != nil {
		return "", fmt.Errorf("mvn: %w\n%s", err, out)
	}
	jars, err := os.ReadFile(target + "/classpath")
	return target + "/classes:" + strings.TrimSpace(string(jars)), err
}

func (b *bench) redissonLoad(s *server, classpath string) (figures, error) {
	const warm, span = 5 * time.Second, 20 * time.Second
	ctx, cancel := context.WithTimeout(context.Background(), warm+span+time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "java", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-cp",
		classpath, "LockLoad", s.addr, "32", "16",
		strconv.FormatInt(warm.Milliseconds(), 10), strconv.FormatInt(span.Milliseconds(), 10))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("java: %w", errors.Join(err, ctx.Err()))
	}
	var rate, p50, p99 float64
	var failed int
	if _, err := fmt.Sscan(string(out), &rate, &p50, &p99, &failed); err != nil {
		return nil, fmt.Errorf("java said %q: %w", out, err)
	}
	if failed > 0 {
		b.note("Redisson on %s: %d pairs failed; a busy machine may not answer within 3 s.", s.name,
			failed)
	}
	return figures{"rate": rate, "p50": p50, "p99": p99}, nil
}
