//go:build race

package abuse

// The race detector slows everything.
const (
	// slowness multiplies time limits.
	slowness = 30

	// shrink divides the amount of data.
	shrink = 6
)
