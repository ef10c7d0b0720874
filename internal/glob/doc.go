// Package glob matches strings with Redis's glob patterns: KEYS, the MATCH of
// the SCAN family, PSUBSCRIBE, CONFIG GET. It owns that one function; it knows
// no keys and no channels.
package glob
