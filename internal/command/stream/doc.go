// Package stream holds the commands of streams and of their groups of consumers.
package stream
