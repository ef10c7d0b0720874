//go:build !race

package abuse

const (
	// slowness multiplies time limits, because another machine may be slow and busy.
	slowness = 10

	// shrink divides the amount of data.
	shrink = 1
)
