// Command bill writes a bill of materials beside each executable that it is given:
// lockredis.cdx.json. The Maven build in java/ packs it with the executable.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/lockredis/lockredis/packaging/sbom"
)

func main() {
	root := flag.String("root", "..", "the repository")
	version := flag.String("version", "", "the version")
	commit := flag.String("commit", "unknown", "the source's commit")
	seconds := flag.Int64("time", 0, "the time of the bill, in seconds since 1970")
	flag.Parse()
	notices, err := os.ReadFile(filepath.Join(*root, "THIRD_PARTY_NOTICES"))
	for _, file := range flag.Args() {
		if err != nil {
			break
		}
		bill := sbom.Program{Version: *version, Commit: *commit, Time: time.Unix(*seconds, 0),
			Files: []string{file}, Notices: string(notices), Dir: *root}
		err = write(bill, filepath.Join(filepath.Dir(file), "lockredis.cdx.json"))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bill:", err)
		os.Exit(1)
	}
}

func write(bill sbom.Program, path string) error {
	text, err := bill.Write()
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}
