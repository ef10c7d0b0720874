// Package wire is a raw RESP client for comparing servers byte for byte.
//
// An ordinary client library hides differences that a comparison must see: a null bulk or
// a null array; a number as integer, double or string; a push before a reply. Conn sends
// commands as arrays of bulk strings, or raw bytes. It returns every reply in two forms:
// the received bytes (Value.Raw), and a tree whose String is readable and loses nothing.
//
// The package does not reconnect or pool connections, and never interprets a reply beyond
// its RESP type. The vectors, the differential and other tests use it, and bench/perf for
// commands that are not measured.
package wire
