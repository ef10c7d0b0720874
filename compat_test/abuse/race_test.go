//go:build race

package abuse

// slowness multiplies time limits, because the race detector slows everything.
const slowness = 6
