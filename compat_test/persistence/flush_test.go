package persistence

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// startBoth starts lockredis and redis-server with these save points, each in a new
// directory.
func startBoth(t *testing.T, save string) map[string]*client {
	t.Helper()
	mine, theirs := t.TempDir(), t.TempDir()
	_, c := startInDir(t, mine, map[string]string{"save": save})
	return map[string]*client{
		mine: c, theirs: startOracle(t, "--dir", theirs, "--save", save),
	}
}

// keysOf returns how many keys the file in dir has.
func keysOf(t *testing.T, dir string) string {
	t.Helper()
	_, c := startInDir(t, dir, nil)
	return c.do("DBSIZE")
}

func TestFlushallEmptiesTheFileIfThereAreSavePoints(t *testing.T) {
	for _, save := range []string{"1000 1000000", ""} {
		for dir, c := range startBoth(t, save) {
			want := "1"
			if save != "" {
				want = "0"
			}
			c.do("SET", "a", "1")
			c.do("SAVE")
			saves := info(c, "rdb_saves")
			c.do("FLUSHALL")
			if n := info(c, "rdb_changes_since_last_save"); (n == "0") != (save != "") {
				t.Errorf("%s, save %q: %s changes after FLUSHALL", c.name, save, n)
			}
			if n := info(c, "rdb_saves"); n != saves {
				t.Errorf("%s, save %q: %s saves are counted, %s before FLUSHALL", c.name, save, n, saves)
			}
			if n := keysOf(t, dir); n != want {
				t.Errorf("%s, save %q: the file has %s keys", c.name, save, n)
			}
			c.do("MULTI")
			c.do("SET", "a", "1")
			c.do("FLUSHALL", "ASYNC")
			c.do("SET", "b", "1")
			c.do("EXEC")
			if n := keysOf(t, dir); n != want {
				t.Errorf("%s, save %q: the file has %s keys after a transaction", c.name, save, n)
			}
		}
	}
}

func TestFlushallEndsASaveInTheBackground(t *testing.T) {
	for dir, c := range startBoth(t, "1000 1000000") {
		c.do("SAVE")
		c.do("DEBUG", "POPULATE", "100000")
		c.do("BGSAVE")
		c.do("FLUSHALL")
		await(t, "the end of BGSAVE", func() bool { return info(c, "rdb_bgsave_in_progress") == "0" })
		if status := info(c, "rdb_last_bgsave_status"); status != "ok" {
			t.Errorf("%s: the status is %s", c.name, status)
		}
		if n := keysOf(t, dir); n != "0" {
			t.Errorf("%s: the file has %s keys", c.name, n)
		}
		await(t, "the end of temporary files", func() bool {
			files, err := os.ReadDir(dir)
			return err == nil && len(files) == 1
		})
	}
}

func TestASaveOfATransactionBeginsAfterIt(t *testing.T) {
	for dir, c := range startBoth(t, "") {
		c.do("DEBUG", "POPULATE", "1000")
		c.do("MULTI")
		for _, command := range []string{"BGSAVE", "BGSAVE SCHEDULE", "BGSAVE OTHER", "FLUSHALL", "SET a 1"} {
			c.do(strings.Fields(command)...)
		}
		const scheduled = `+"Background saving scheduled"`
		want := fmt.Sprintf(`[%s %s -"ERR syntax error" +OK +OK]`, scheduled, scheduled)
		if got := c.ask("EXEC").String(); got != want {
			t.Errorf("%s: EXEC: %s", c.name, got)
		}
		await(t, "the end of BGSAVE", func() bool {
			return info(c, "rdb_saves") == "1" && info(c, "rdb_bgsave_in_progress") == "0"
		})
		if n := keysOf(t, dir); n != "1" {
			t.Errorf("%s: the file has %s keys", c.name, n)
		}
	}
}

func TestFlushallAnswersWithoutADirectory(t *testing.T) {
	for dir, c := range startBoth(t, "1000 1000000") {
		c.do("SET", "a", "1")
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		c.do("FLUSHALL")
		if got := fmt.Sprint(c.do("SET", "a", "1"), info(c, "rdb_last_bgsave_status")); got != "OKok" {
			t.Errorf("%s: %s", c.name, got)
		}
		if err := os.Mkdir(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
}

func TestDebugReloadDuringBGSAVELeavesItsStatus(t *testing.T) {
	for dir, c := range startBoth(t, "1000 1000000") {
		c.do("SAVE")
		c.do("DEBUG", "POPULATE", "100000")
		c.do("BGSAVE")
		c.do("DEBUG", "RELOAD")
		await(t, "the end of BGSAVE", func() bool { return info(c, "rdb_bgsave_in_progress") == "0" })
		if got := fmt.Sprint(info(c, "rdb_last_bgsave_status"), info(c, "rdb_saves")); got != "ok2" {
			t.Errorf("%s: %s", c.name, got)
		}
		c.do("SET", "a", "1")
		if _, err := os.Stat(filepath.Join(dir, "dump.rdb")); err != nil {
			t.Error(err)
		}
	}
}
