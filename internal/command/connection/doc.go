// Package connection holds the commands about the connection: AUTH, HELLO, PING, SELECT, and
// CLIENT with its subcommands.
package connection
