package store

// Type is a value's type under Redis's name.
type Type string

// The types that TYPE answers.
const (
	TypeString Type = "string"
	TypeHash   Type = "hash"
	TypeList   Type = "list"
	TypeSet    Type = "set"
	TypeZSet   Type = "zset"
)

// Value is what a key holds. Aggregates are never empty inside a DB: the
// command that takes the last element out deletes the key.
type Value interface {
	// Type returns the value's type.
	Type() Type
	// Encoding returns what OBJECT ENCODING answers, in Redis 7.0's words.
	Encoding() string
	// Clone returns an independent copy (COPY).
	Clone() Value
	// MemoryUsage estimates the bytes held, looking at no more than samples
	// elements; 0 samples means all.
	MemoryUsage(samples int) int64
}
