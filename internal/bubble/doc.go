// Package bubble finds out whether code runs in a testing/synctest bubble. The runtime ends the
// process when a goroutine outside of a bubble wakes one inside it. The server and its test kit
// ask this package first, and report the mistake.
package bubble
