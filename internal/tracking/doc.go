// Package tracking is the memory of client-side caching: it remembers the
// keys that each client has read, and the prefixes that each client asked for.
//
// It knows clients by their ids and sends nothing. The room of package engine decides when a
// key is remembered, and sends the invalidations.
package tracking
