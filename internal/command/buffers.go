package command

import "github.com/lockredis/lockredis/resp"

// Buffers are the sizes of a connection's buffers in bytes, for CLIENT LIST.
type Buffers struct {
	Query, QueryFree int // used and free bytes of the query buffer
	// Small is the size of the small output buffers, which a connection keeps. InSmall is how
	// many bytes of them are unread, and Peak the most that they have held.
	Small, InSmall, Peak int
	// Large is how many output buffers are larger, and LargeBytes their size.
	Large, LargeBytes int
	Fixed             int  // what the connection itself takes
	Full              bool // the socket takes no more
}

// clientMemory is the memory of a client in bytes.
type clientMemory struct {
	Buffers
	argv, multi int // of the arguments of its command, and of the queue of MULTI
}

func (m clientMemory) total() int {
	return m.Query + m.QueryFree + m.Small + m.LargeBytes + m.Fixed + m.argv + m.multi
}

// buffersOf measures the buffers of a client. c is the running command.
func buffersOf(c *Ctx, s *Session) Buffers {
	own := s == c.Session && c.From != FromWait // a parked client's goroutine continues to read
	return s.Conn.Sizes(own)
}

// memoryOf measures a client. c is the running command.
func memoryOf(c *Ctx, s *Session) clientMemory {
	m := clientMemory{Buffers: buffersOf(c, s)}
	switch {
	case s == c.Session && c.From == FromExec:
		m.argv = len("EXEC")
	case s == c.Session:
		m.argv = c.Argv
	case s.Parked != nil:
		m.argv = s.Parked.Args.Bytes()
	}
	if t := s.transaction(); t != nil {
		const pointer = 8 // bytes, as Redis counts for each argument
		for _, args := range t.Queue {
			m.multi += resp.Args(args).Bytes() + pointer*len(args)
		}
	}
	return m
}

// ClientBytes returns the memory of all clients, replicas apart.
func ClientBytes(c *Ctx) (normal, replicas int64) {
	c.Clients.Each(func(s *Session) bool {
		of := &normal
		if s.Follows() {
			of = &replicas
		}
		*of += int64(memoryOf(c, s).total())
		return true
	})
	return normal, replicas
}

// largestBuffers are the sizes of the largest query buffer and of the largest output of a
// client. They are measured once a second at most, because that looks at every client.
type largestBuffers struct {
	until         int64 // Unix ms
	input, output int   // bytes
}

// LargestBuffers returns the sizes of the largest query buffer and of the largest output of a client.
func (c *Ctx) LargestBuffers() (input, output int) {
	c.largest.measure(c)
	return c.largest.input, c.largest.output
}

func (l *largestBuffers) measure(c *Ctx) {
	const second = 1000
	if now := c.Now(); now < l.until && now >= l.until-second { // the clock may have been set back
		return
	}
	*l = largestBuffers{until: c.Now() + second}
	c.Clients.Each(func(s *Session) bool {
		b := buffersOf(c, s)
		l.input, l.output = max(l.input, b.Query+b.QueryFree), max(l.output, b.LargeBytes)
		return true
	})
}
