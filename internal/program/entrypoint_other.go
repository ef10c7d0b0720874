//go:build !unix

package program

import (
	"fmt"
	"os"
)

// entrypoint fails: containers with this program run on Linux.
func entrypoint([]string) int {
	fmt.Fprintln(os.Stderr, "docker-entrypoint.sh: not available on this system")
	return 1
}
