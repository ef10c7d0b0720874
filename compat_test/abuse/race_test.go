//go:build race

package abuse

// slowness stretches time limits: the race detector slows everything.
const slowness = 6
