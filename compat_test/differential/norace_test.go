//go:build !race

package differential

// raceDetector tells that this test runs under the race detector.
const raceDetector = false
