// Package abuse attacks a server in the test's own process with bad input: random
// commands, huge counts, hostile scripts, torn frames and clients that do not read. It
// tests that none of them makes the server crash, hang or keep memory. It does not ask
// whether a reply is Redis's; the vectors and the differential do that.
//
// Plain go test runs the tests. LOCKREDIS_ABUSE=long attacks longer, and
// LOCKREDIS_ABUSE_SEED repeats a run.
package abuse
