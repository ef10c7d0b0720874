// Package debug holds DEBUG, which tests and diagnosis need.
package debug
