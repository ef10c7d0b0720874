// Command lockredis is the server as a stand-in for redis-server 7.0: it takes
// the same arguments and configuration files, and logs in the same form.
//
// It turns arguments into a lockredis.Config, starts the server, and ends it on
// SIGTERM, SIGINT, a client's SHUTDOWN or, when asked, with its parent process.
// When a load has ended, it gives memory back to the system.
// What a server does is the business of the packages below.
package main
