// Package hash holds the commands of hashes. The deadlines of fields belong to Valkey.
package hash
