// Package glob matches strings against Redis's glob patterns: KEYS, the MATCH
// option of the SCAN family, PSUBSCRIBE and CONFIG GET. It exports one function
// and knows nothing of keys or channels.
package glob
