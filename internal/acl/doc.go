// Package acl holds the users of one server and their rights, by the rules of Redis
// 7.0.15: parsing of rules, their description, and the check of a command line.
//
// # The parts
//
//   - Catalog: the commands and categories that rules can name.
//   - User: passwords, flags and selectors. Apply carries out one rule, String describes
//     the user in the normal form of ACL LIST, Check decides about a command line.
//   - Users: the users by name, and the text of an ACL file.
//   - Log: the refused commands and failed logins of ACL LOG.
//
// # Commands of a selector
//
// A selector keeps a set of commands, not the rules that made it. So Check asks for a bit and
// compares some patterns. A user that may do everything needs no Check: the engine compares
// once, see Restricted. The Catalog also has the commands of Redis that lockredis does not
// have. So a redis.conf with users loads, and CONFIG REWRITE writes the same line.
//
// The description of a selector is found again from the set, as in Redis: the categories
// that fit best, then single commands. Redis lists single commands in the order of a hash
// table. Here they are in the order of their names.
//
// # Who uses it
//
// The engine calls Check in admit.go. The handlers of AUTH, HELLO and ACL
// change users. All of that happens under the engine lock. Connections read
// Users.AuthRequired without it.
//
// The package opens no file and no socket, reads no clock and starts no goroutine.
package acl
