// Package str holds the commands of strings.
package str
