// Package abuse attacks a server in the test's own process with bad input:
// random commands, giant counts, hostile scripts, torn frames and clients that
// do not read. It holds the promise that none of them crashes, hangs or bloats
// the server. It never asks whether a reply is Redis's: that is the business of
// the vectors and of the differential.
//
// The tests are what plain go test runs; LOCKREDIS_ABUSE=long attacks longer,
// LOCKREDIS_ABUSE_SEED repeats a run.
package abuse
