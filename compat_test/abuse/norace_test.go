//go:build !race

package abuse

// slowness stretches time limits.
const slowness = 1
