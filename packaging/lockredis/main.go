// Command lockredis is the executable of the container image: cmd/lockredis, and the
// shell and tools of package shell under their names.
package main

import (
	"os"

	"github.com/lockredis/lockredis/internal/program"
	"github.com/lockredis/lockredis/packaging/shell"
)

func main() { os.Exit(program.Main(shell.Tools())) }
