package sender

import "sync/atomic"

// workers are the goroutines that send requests whose caller may leave. Idle
// workers are kept for later requests: growing the stack of a new goroutine for
// every request took a quarter of the client's CPU time.
type workers struct {
	c    *Sender
	jobs chan *sending // to idle workers
	idle atomic.Int64  // number of idle workers
}

// maxIdleWorkers is how many idle workers are kept.
const maxIdleWorkers = 32

// run runs s on a worker. Config.Running counts the caller, so that the number
// of running goroutines is not 0.
func (w *workers) run(s *sending) {
	select {
	case w.jobs <- s:
		return
	default:
	}
	w.c.Running.Add(1)
	go w.work(s)
}

func (w *workers) work(s *sending) {
	defer w.c.Running.Done()
	for ; ; w.idle.Add(-1) {
		s.run()
		s = nil
		if w.idle.Add(1) > maxIdleWorkers {
			w.idle.Add(-1)
			return
		}
		select {
		case s = <-w.jobs:
		case <-w.c.Closing.Done():
			w.idle.Add(-1)
			return
		}
	}
}
