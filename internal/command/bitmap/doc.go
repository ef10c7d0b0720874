// Package bitmap holds the commands that see a string as bits and as fields of bits.
package bitmap
