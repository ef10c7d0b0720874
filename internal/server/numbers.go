package server

import "sync"

// numbers gives each connection without a socket a number for the fd field of CLIENT LIST. As a
// kernel does, it gives the lowest free one.
type numbers struct {
	mu    sync.Mutex // guards taken
	taken []bool
}

// firstNumber is about the descriptor that the first client of a redis-server has.
const firstNumber = 8

// take returns the lowest free number and takes it.
func (n *numbers) take() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	for i, taken := range n.taken {
		if !taken {
			n.taken[i] = true
			return firstNumber + i
		}
	}
	n.taken = append(n.taken, true)
	return firstNumber + len(n.taken) - 1
}

// free gives a number back.
func (n *numbers) free(number int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.taken[number-firstNumber] = false
}
