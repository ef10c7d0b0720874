package config

import (
	"errors"
	"strings"
	"sync/atomic"
)

// AOF is the directives about the append-only log, which is read at the start.
type AOF struct {
	On        bool   // appendonly
	Folder    string // appenddirname
	File      string // appendfilename
	Truncated bool   // aof-load-truncated
}

// RDB is the directives about serialization and the RDB file.
type RDB struct {
	Compress   bool        // rdbcompression
	Checksum   bool        // rdbchecksum
	File       string      // dbfilename
	Points     []SavePoint // save
	StopWrites bool        // stop-writes-on-bgsave-error

	LoadInterval int64 // loading-process-events-interval-bytes
	LoadDelay    int64 // key-load-delay, µs for each key; -n: 1 µs for each n keys
	SaveDelay    int64 // rdb-key-save-delay, of a replica's file; see LoadDelay

	OnTerm, OnInterrupt string // shutdown-on-sigterm, shutdown-on-sigint

	// Program says that the server is the program. It then reads and writes its file
	// without being asked to. A server in another program has no file unless a directive
	// asks for it, see HasFile.
	Program bool
	// Interrupted says that SIGINT ends the program.
	Interrupted atomic.Bool
}

// ErrShutdownAborted says that SHUTDOWN ABORT has undone a signal that told the program to end.
var ErrShutdownAborted = errors.New("SHUTDOWN ABORT")

// SavePoint is a pair of the directive save: the data is saved when Seconds have passed
// since the last save and there are Changes.
type SavePoint struct{ Seconds, Changes int64 }

// savePointsOf reads a checked value of save.
func savePointsOf(value string) (points []SavePoint) {
	words := strings.Fields(value)
	for i := 0; i+1 < len(words); i += 2 {
		points = append(points, SavePoint{number(words[i]), number(words[i+1])})
	}
	return points
}

// HasFile reports whether the server has an RDB file: the program has one, and every
// server for which dbfilename or dir was set, or which was started with save points. Several
// servers in one process would otherwise share dump.rdb in the working directory.
func (c *Config) HasFile() bool {
	if c.RDB.File == "" {
		return false
	}
	if c.RDB.Program || len(c.RDB.Points) > 0 && c.find("save").loaded {
		return true
	}
	for _, name := range []string{"dbfilename", "dir"} {
		if s := c.find(name); s != nil && (s.loaded || s.value != s.start()) {
			return true
		}
	}
	return false
}

// SavesAtEnd reports whether the data is saved when the program is told to end: by the
// directive for the signal, or else if there are save points. force says that the program
// ends even if that fails.
func (c *Config) SavesAtEnd() (saves, force bool) {
	options := strings.Fields(c.RDB.OnTerm)
	if c.RDB.Interrupted.Load() {
		options = strings.Fields(c.RDB.OnInterrupt)
	}
	saves = len(c.RDB.Points) > 0
	for _, option := range options {
		switch option {
		case "save":
			saves = true
		case "nosave":
			saves = false
		case "force":
			force = true
		}
	}
	return saves && c.HasFile(), force
}
