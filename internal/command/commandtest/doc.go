// Package commandtest runs commands in tests of the groups, without an engine or a socket.
package commandtest
