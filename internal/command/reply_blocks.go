package command

import "github.com/lockredis/lockredis/resp"

// ReplyBlocks allocates the small arrays and texts of a large reply in blocks. The zero value
// is ready.
type ReplyBlocks struct {
	free  []resp.Reply
	block int // the size of the last block
	Text  []byte
}

// Array returns an array of n elements. The caller fills its elements.
func (r *ReplyBlocks) Array(n int) []resp.Reply {
	const most = 1024
	if n > len(r.free) {
		r.block = max(n, min(2*r.block, most))
		r.free = make([]resp.Reply, r.block)
	}
	elems := r.free[:n:n]
	r.free = r.free[n:]
	return elems
}

// Room makes room for n bytes behind text and returns the length of text. The caller appends
// to text.
func (r *ReplyBlocks) Room(n int) (from int) {
	const least, most = 128, 4096
	if cap(r.Text)-len(r.Text) < n {
		r.Text = make([]byte, 0, max(n, min(max(least, 2*cap(r.Text)), most)))
	}
	return len(r.Text)
}

// Bulk returns the end of text, from a position on, as a bulk string.
func (r *ReplyBlocks) Bulk(from int) resp.Reply {
	return resp.Bulk(r.Text[from:len(r.Text):len(r.Text)])
}
