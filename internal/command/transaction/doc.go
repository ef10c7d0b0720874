// Package transaction holds MULTI, EXEC, DISCARD, WATCH and UNWATCH. The engine queues and runs the
// commands between MULTI and EXEC.
package transaction
