package config

import "log/slog"

// The log levels of Redis as levels of slog. Verbose lies between Debug and
// Info.
const (
	LogDebug   = slog.LevelDebug
	LogVerbose = slog.LevelDebug + 2
	LogNotice  = slog.LevelInfo
	LogWarning = slog.LevelWarn
)

// logLevels are the values of the directive loglevel. The position of a level
// is its number in redis.log.
var logLevels = [...]struct {
	name  string
	level slog.Level
}{
	{"debug", LogDebug}, {"verbose", LogVerbose}, {"notice", LogNotice}, {"warning", LogWarning},
}

// LogLevel returns the level with one of Redis's names: debug, verbose, notice,
// warning. ok is false for any other name.
func LogLevel(name string) (level slog.Level, ok bool) {
	for _, l := range logLevels {
		if l.name == name {
			return l.level, true
		}
	}
	return 0, false
}

// LogLevelNumber returns the level with a number of redis.log: 0 is debug, 3 is
// warning. A number outside that range counts as the nearest one inside.
func LogLevelNumber(n int) slog.Level {
	return logLevels[min(max(n, 0), len(logLevels)-1)].level
}

// logLevelNames returns the values of the directive loglevel.
func logLevelNames() []string {
	var names []string
	for _, l := range logLevels {
		names = append(names, l.name)
	}
	return names
}
