// Package generic holds the commands for keys of any type: deletion, deadlines, names, SCAN, SORT,
// DUMP, RESTORE and MIGRATE, and the commands that wait for replicas.
package generic
