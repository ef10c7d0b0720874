// Package sender sends the requests of rlock: scripts, by one set of rules. It repeats a request until the
// server answers, finds the master that has the key, waits for replicas, and knows what a reply or an
// error means for the next copy. It knows no lock: what a script does, and why a copy of it does no
// harm, is up to the caller. Package rlock has one Sender for each Client.
package sender
