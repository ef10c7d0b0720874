// Command image writes the container image of lockredis, which takes the place of
// redis:7, without Docker. "make image" runs it.
//
// It writes an archive for "docker load" for each platform, with a shell and without one
// (-scratch), and an OCI layout of them all, which a registry's tools can push. With
// -push it pushes to a registry itself. Two runs with the same executables write equal
// bytes: entries have the time of the commit.
package main
