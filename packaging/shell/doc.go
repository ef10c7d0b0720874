// Package shell is a shell and the small tools that health checks, start scripts and
// test libraries run inside a container: sh, grep, nc, cat and some more.
//
// The shell's language is package mvdan.cc/sh's: POSIX and most of Bash. The
// tools have the options of POSIX that scripts use; an unknown option is an error.
// Each tool is a process of its own, started under its name through PATH. Two things
// differ from other shells: $! is no process id that kill takes, and exec keeps the
// shell as the parent, which passes signals on.
//
// They are written in Go instead of taken from a distribution, so that an image needs only Go
// to build, has equal bytes on every machine, and has no file under the GPL. A distribution's
// shell would have to be downloaded for two architectures, and changes with each of its
// updates. This one is pinned by go.sum. It is in the same executable as the server, but only
// in the image: the executables of the archives do not have it, and neither has the image
// tagged -scratch.
package shell
