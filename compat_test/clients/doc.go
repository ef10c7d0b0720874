// Package clients runs unmodified client libraries, job queues and tools against lockredis
// and against redis-server, and compares the outcome.
//
// A suite is a folder with an executable script "run". README.md says what the script
// gets and what it prints. This package starts the servers and the scripts, judges the
// checks and writes the table of docs/clients.md. It knows nothing of a single client.
package clients
