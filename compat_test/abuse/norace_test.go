//go:build !race

package abuse

// slowness multiplies time limits.
const slowness = 1
