package command

import "github.com/lockredis/lockredis/resp"

// replyBlocks allocates the small arrays and texts of a large reply in blocks. The zero value
// is ready.
type replyBlocks struct {
	free  []resp.Reply
	block int // the size of the last block
	text  []byte
}

// array returns an array of n elements. The caller fills its elements.
func (r *replyBlocks) array(n int) []resp.Reply {
	const most = 1024
	if n > len(r.free) {
		r.block = max(n, min(2*r.block, most))
		r.free = make([]resp.Reply, r.block)
	}
	elems := r.free[:n:n]
	r.free = r.free[n:]
	return elems
}

// room makes room for n bytes behind text and returns the length of text. The caller appends
// to text.
func (r *replyBlocks) room(n int) (from int) {
	const least, most = 128, 4096
	if cap(r.text)-len(r.text) < n {
		r.text = make([]byte, 0, max(n, min(max(least, 2*cap(r.text)), most)))
	}
	return len(r.text)
}

// bulk returns the end of text, from a position on, as a bulk string.
func (r *replyBlocks) bulk(from int) resp.Reply {
	return resp.Bulk(r.text[from:len(r.text):len(r.text)])
}
