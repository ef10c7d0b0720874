// Package survey compares what a server says about itself with redis-server: every
// directive of CONFIG with its values, every command of COMMAND, every field of INFO and of
// CLIENT LIST. The vectors and the differential compare commands one by one. These tests
// ask for everything at once, so a missing name is noticed.
//
// CONFIG REWRITE is compared line by line.
//
// Each test starts a redis-server and a lockredis as a program, with the same directives.
package survey
