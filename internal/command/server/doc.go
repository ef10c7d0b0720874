// Package server holds the commands about the server itself: INFO, CONFIG, COMMAND, MEMORY, saves,
// FLUSHALL, and the commands that would change its role.
package server
