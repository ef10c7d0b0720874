//go:build race

package redistest

// RaceDetector reports whether the tests run under the race detector.
const RaceDetector = true
