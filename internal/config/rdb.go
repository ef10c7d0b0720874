package config

// RDB is the directives about serialization.
type RDB struct {
	Compress bool // rdbcompression
}
