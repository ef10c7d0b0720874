package engine

import "github.com/lockredis/lockredis/internal/command"

// besideKeys estimates the bytes in use that nobody counts: the process itself, values that
// libraries keep, and the error of the counts. A collection finds the bytes of everything in use.
// Less those that are known (memoryLimit.known), that is the rest.
//
// A collection does not tell when it marked something. Keys that were evicted meanwhile may be in
// its figure, and so is what was made meanwhile, garbage too. So a collection gives bounds only:
//
//   - Each one gives an upper bound: what it found, less the least that was known meanwhile. When
//     it began is not known, unless Server.Collect has begun it.
//   - One that Collect has begun gives a lower bound, too: what was surely in use when it began,
//     less the most that was known since.
//
// An estimate within the bounds stays. What was in use when a collection began may be gone when its
// figure is seen. So keys are evicted for what two collections have found, one after the other.
type besideKeys struct {
	bytes int64 // the estimate
	live  int64 // the last collection's figure
	found int64 // when a collection of Collect gave bounds, Unix µs
	began int64 // when that collection had begun, Unix µs

	sure   int64 // what it surely found
	proven int64 // the lesser of that and what the one before it surely found

	window extremes // what was known since the collection that is awaited can have begun
	recent extremes // since the last call of look

	number int64    // of the collection that Collect has begun; 0: its bounds are known
	at     int64    // when it has begun, Unix µs
	since  extremes // what was known since then
}

// mostAtFirst is the most that the estimate can be, in bytes, until a collection has ended under the
// limit: a server without keys has more. The last collection before the limit tells no more
// than that: the keys of its time may be gone.
const mostAtFirst = 1 << 20

// extremes are the least and the most of some sizes, in bytes.
type extremes struct{ least, most int64 }

func (x *extremes) add(y extremes) { x.least, x.most = min(x.least, y.least), max(x.most, y.most) }

// reset forgets all collections. known is the bytes that are known now.
func (b *besideKeys) reset(heap command.Heap, known, micros int64) {
	now := extremes{known, known}
	*b = besideKeys{
		bytes: min(heap.Live, mostAtFirst), live: heap.Live, found: micros,
		window: now, recent: now,
	}
}

// note notes the bytes that are known. It is called before each call of look.
func (b *besideKeys) note(known int64) {
	b.recent.add(extremes{known, known})
	b.since.add(extremes{known, known})
}

// begun is called when Collect has begun a collection. known is the bytes that are known.
func (b *besideKeys) begun(number, known, micros int64) {
	b.number, b.at, b.since = number, micros, extremes{known, known}
}

// look takes the figures of the last collections, which may be new. known is the bytes that are
// known.
func (b *besideKeys) look(heap command.Heap, known, micros int64) {
	b.window.add(b.recent)
	if heap.Live != b.live {
		b.live = heap.Live
		b.bound(0, heap.Live-b.window.least)
		b.window = b.recent // the next collection may have begun since the call of look before
	}
	if c := heap.Collected; b.number != 0 && c.Number == b.number {
		b.number, b.found, b.began = 0, micros, b.at
		before := b.sure
		b.sure = max(c.Sure-b.since.most, 0)
		b.proven = min(before, b.sure)
		b.bound(b.sure, c.Live-b.since.least)
	}
	b.recent = extremes{known, known}
}

// bound moves the estimate between two bounds.
func (b *besideKeys) bound(least, most int64) {
	b.bytes = max(min(max(b.bytes, least), most), 0)
}
