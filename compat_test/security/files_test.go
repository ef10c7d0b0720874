package security

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/lockredis/lockredis/internal/config"
	"github.com/lockredis/lockredis/internal/redistest"
)

// names lists a directory.
func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return strings.Join(all, " ")
}

func TestNoCommandWritesAnUnexpectedFile(t *testing.T) {
	t.Chdir(t.TempDir())
	dir := t.TempDir()
	c := redistest.Dial(t, startLockredis(t, "--dir", dir, "--save", "1 1", "--appendonly", "yes",
		"--enable-debug-command", "yes", "--enable-protected-configs", "yes"))
	const outside = "CONFIG SET dbfilename ../x.rdb"
	for _, command := range []string{"SET k v", "SAVE", "BGSAVE", "BGREWRITEAOF",
		"CONFIG SET dbfilename x.rdb", "SAVE", "DEBUG RELOAD", "DEBUG JMAP", outside,
		"CONFIG SET appendonly yes", "CONFIG REWRITE", "EVAL 'return redis.call(\"save\")' 0",
		"SHUTDOWN SAVE"} {
		v, err := c.Do(strings.Fields(command)...)
		if err == nil && command == outside && !v.IsError() {
			t.Errorf("%s: %s", command, v)
		}
	}
	if got := names(t, dir); got != "dump.rdb x.rdb" {
		t.Errorf("files in dir: %s", got)
	}
	if got := names(t, "."); got != "" {
		t.Errorf("files in the working directory: %s", got)
	}
}

func TestConfigRewriteReplacesItsFileAndTouchesNoOther(t *testing.T) {
	dir := t.TempDir()
	file, bystander := filepath.Join(dir, "redis.conf"), filepath.Join(t.TempDir(), "bystander")
	for path, text := range map[string]string{file: "# mine\nmaxclients 100\n",
		bystander: "untouched"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	set, err := config.Parse([]string{file, "--requirepass", "sesame"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	// A symbolic link at the place where the new file is written first.
	if err := os.Symlink(bystander, filepath.Join(dir,
		".redis.conf."+strconv.Itoa(os.Getpid()))); err != nil {
		t.Skip("no symbolic links here: ", err)
	}
	if err := set.Rewrite(); err != nil {
		t.Fatal(err)
	}
	if got := read(t, bystander); got != "untouched" {
		t.Errorf("the bystander has %q", got)
	}
	if got := read(t, file); !has(got, "# mine\nmaxclients 100\n") ||
		!has(got, "requirepass \"sesame\"\n") {
		t.Errorf("the file has %q", got)
	}
	if got := names(t, dir); got != "redis.conf" {
		t.Errorf("files: %s", got)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm()&0o133 != 0 {
		t.Errorf("%v %v", info, err)
	}
}

func TestConfigRewriteThatFailsLeavesTheFileAsItWas(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may write everywhere")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "redis.conf")
	if err := os.WriteFile(file, []byte("maxclients 100\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	set, err := config.Parse([]string{file, "--maxclients", "200"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(dir, 0o700)
	if set.Rewrite() == nil {
		t.Error("no error from a directory that cannot be written to")
	}
	if got := read(t, file); got != "maxclients 100\n" {
		t.Errorf("the file has %q", got)
	}
}
