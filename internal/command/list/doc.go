// Package list holds the commands of lists, with the blocking ones.
package list
