// Package wire is a raw RESP client for comparing servers byte for byte.
//
// An ordinary client library hides what a comparison must see: whether a null was
// a bulk or an array, whether a number came as an integer, a double or a string,
// what stood in front of a push. Conn sends commands as arrays of bulk strings, or
// bytes as they are, and hands every reply back twice: as the bytes received
// (Value.Raw) and as a tree whose String is readable and loses nothing.
//
// It owns no reconnecting, pooling or pipelining policy and never interprets a
// reply beyond its RESP type. The vectors and the live differential tests call it.
package wire
