// Package observe holds the commands that show what the server does: MONITOR, SLOWLOG and LATENCY.
package observe
