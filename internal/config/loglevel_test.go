package config

import (
	"log/slog"
	"testing"
)

func TestLogLevelsHaveRedissNamesAndNumbers(t *testing.T) {
	for i, test := range []struct {
		name string
		want slog.Level
	}{
		{"debug", slog.LevelDebug}, {"verbose", LogVerbose},
		{"notice", slog.LevelInfo}, {"warning", slog.LevelWarn},
	} {
		if got, ok := LogLevel(test.name); !ok || got != test.want {
			t.Errorf("%s: %v, %t", test.name, got, ok)
		}
		if got := LogLevelNumber(i); got != test.want {
			t.Errorf("number %d: %v, want %v", i, got, test.want)
		}
		c := New()
		if err := c.Load("loglevel", test.name); err != nil || c.LogLevel != test.want {
			t.Errorf("loglevel %s: %v, %v", test.name, c.LogLevel, err)
		}
	}
	if _, ok := LogLevel("info"); ok {
		t.Error("info is no level of Redis")
	}
	if LogLevelNumber(-1) != LogDebug || LogLevelNumber(4) != LogWarning {
		t.Error("a number out of range does not count as the nearest one")
	}
}
