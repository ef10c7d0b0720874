// Package set holds the commands of sets.
package set
