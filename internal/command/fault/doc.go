// Package fault holds the commands that make requests, replies and messages go wrong on purpose. They
// are in the table while enable-lock-commands asks for them. The package parses the faults;
// internal/fault makes them.
package fault
