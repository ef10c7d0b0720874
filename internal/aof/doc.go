// Package aof reads Redis's append-only log: the manifest that names its files, and the
// commands in a file. It writes nothing.
//
// The engine calls it at the start, with the directive appendonly. Error texts are the texts of
// redis-server 7.0.
package aof
