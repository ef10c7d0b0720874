// Command dist packs the executables of .ci/build-binaries for a release: an archive for
// each platform, a bill of materials, a Homebrew formula, an install script, and
// checksums of them all.
// "make dist" runs it.
//
// Two runs with the same executables write equal bytes. Entries have the time of the
// commit, no user and fixed permissions.
package main
