// Package commands puts the groups together: the command table of a server, and what directives
// add to it. It is the only package that imports all groups.
package commands
