//go:build race

package differential

// raceDetector means that this test runs under the race detector, which does not see a
// server in another process.
const raceDetector = true
