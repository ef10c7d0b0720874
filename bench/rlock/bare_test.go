package main

import (
	"slices"
	"testing"
)

func TestATemplateNamesLockChannelAndLatch(t *testing.T) {
	args := []any{"evalsha", "sha", 3, "recorded", "redisson_lock__channel:{recorded}",
		"redisson_unlock_latch:{recorded}:1f", "owner:1", 30000}
	got := newTemplate(args).command(t.Context(), "bench", "latch").Args()
	want := []any{"evalsha", "sha", 3, "bench", "redisson_lock__channel:{bench}", "latch",
		"owner:1", 30000}
	if !slices.Equal(got, want) {
		t.Errorf("the command is %v", got)
	}
	args = []any{"evalsha", "sha", 1, "recorded", 30000, "owner:1", 0}
	got = newTemplate(args).command(t.Context(), "bench", "latch").Args()
	if want = []any{"evalsha", "sha", 1, "bench", 30000, "owner:1", 0}; !slices.Equal(got, want) {
		t.Errorf("the command is %v", got)
	}
}
