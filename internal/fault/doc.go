// Package fault says which requests, replies and messages of a server go wrong, and how.
//
// A Rule is one fault: its kind, and which items it hits. The engine keeps the rules that are in
// effect. It asks a Rule about each request of a client and about each message for a
// subscriber. Rules count, so that a fault can hit the third EVALSHA. The order of requests
// in the engine decides, so counting is deterministic.
//
// Package lockredistest sets rules for tests. A command could set them too: nothing here
// needs a test.
package fault
