package store

// Type is the type of a value, as Redis names it.
type Type string

// The types that the TYPE command returns.
const (
	TypeString Type = "string"
	TypeHash   Type = "hash"
	TypeList   Type = "list"
	TypeSet    Type = "set"
	TypeZSet   Type = "zset"
	TypeStream Type = "stream"
)

// Value is the value of a key. An aggregate in a DB is never empty, unless it is a stream:
// the command that removes the last element deletes the key.
type Value interface {
	// Type returns the value's type.
	Type() Type
	// Encoding returns the encoding as OBJECT ENCODING of Redis 7.0 names it.
	Encoding() string
	// Clone returns an independent copy (COPY).
	Clone() Value
	// MemoryUsage estimates the memory of the value in bytes, from at most samples
	// elements; 0 means all elements.
	MemoryUsage(samples int) int64
}
