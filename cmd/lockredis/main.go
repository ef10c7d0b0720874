// Command lockredis is the server as a program. It replaces redis-server 7.0. Package
// internal/program is all of it.
package main

import (
	"os"

	"github.com/lockredis/lockredis/internal/program"
)

func main() { os.Exit(program.Main(nil)) }
