//go:build race

package differential

// raceDetector tells that this test runs under the race detector, which sees nothing of a
// server in a process of its own.
const raceDetector = true
