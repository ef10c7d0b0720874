// Package latency keeps how long things took: a Histogram of the durations of one command, and
// the Events of LATENCY with their spikes.
//
// Both have a bounded size. The package reads no clock: its callers measure. It is a part of
// the server, and its values are guarded by the engine's lock.
package latency
