// Package program is the command lockredis: the server as a program. It replaces
// redis-server 7.0: it takes the same arguments and configuration files, and its
// log has the same form. Under the names redis-sentinel, redis-cli and
// docker-entrypoint.sh it is these programs.
//
// cmd/lockredis calls Main. The executable of the container image, in the module
// packaging, calls it too, and adds a shell under further names.
//
// The program turns arguments into a lockredis.Config and starts the server.
// It ends on SIGTERM, SIGINT or a client's SHUTDOWN, and with
// --exit-with-parent also when its parent process ends. After a load it returns
// memory to the operating system, and with maxmemory it limits Go's heap. With daemonize yes
// the program starts itself again in a session of its own; daemon.go describes the protocol.
//
// "lockredis exec" starts a server for a command and ends it with the command. exec.go runs the
// command, execenv.go has its environment, execend.go what it must not leave behind.
//
// Everything that a client sees is in the packages below.
package program
