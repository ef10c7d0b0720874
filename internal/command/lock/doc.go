// Package lock holds the commands of lockredis's own, about locks and who holds them. They are in
// the table while enable-lock-commands asks for them.
package lock
