package engine

// besideKeys estimates the bytes in use beside the keys: buffers, scripts, the process itself, and
// the error of the store's estimate. A collection finds the bytes of everything in use; the
// difference to the bytes of the keys is the rest.
//
// A collection does not tell when it marked a key. Keys that were evicted or deleted meanwhile are
// in its figure, and keys that were added may be. So a collection gives bounds only: its
// figure less the most and less the least bytes that the keys had since the collection before. An
// estimate within the bounds stays.
//
// A collection may find far too much. What a command allocates while it runs counts as in use,
// garbage too, and a large key may go between two readings. So the bounds are the least of the last
// collections.
type besideKeys struct {
	bytes       int64                     // the estimate
	found       [restCollections]extremes // the bounds by the last collections
	collections int                       // how many there were under this limit
	live        int64                     // the last collection's figure

	// The bytes of the keys since a time before the collection that is awaited can have begun,
	// and since the last call of look.
	window, recent extremes
}

// restCollections is of how many collections the bounds are the least.
const restCollections = 4

// mostAtFirst is the most that the estimate can be, in bytes, until a collection has ended under the
// limit: a server without keys has more. The last collection before the limit tells no more
// than that: the keys of its time may be gone.
const mostAtFirst = 1 << 20

// extremes are the least and the most of some sizes, in bytes.
type extremes struct{ least, most int64 }

func (x *extremes) add(y extremes) { x.least, x.most = min(x.least, y.least), max(x.most, y.most) }

// reset forgets all collections. live is the last one's figure, keys the bytes of the keys now.
func (b *besideKeys) reset(live, keys int64) {
	now := extremes{keys, keys}
	*b = besideKeys{live: live, bytes: min(live, mostAtFirst), window: now, recent: now}
}

// note notes the bytes of the keys. It is called before each call of look.
func (b *besideKeys) note(keys int64) { b.recent.add(extremes{keys, keys}) }

// look takes the last collection's figure, which may be new. keys is the bytes of the keys.
func (b *besideKeys) look(live, keys int64) {
	b.window.add(b.recent)
	if live != b.live {
		b.live = live
		b.bound(extremes{least: max(live-b.window.most, 0), most: max(live-b.window.least, 0)})
		b.window = b.recent // the next collection may have begun since the call of look before
	}
	b.recent = extremes{keys, keys}
}

// bound moves the estimate into the bounds of the last collections. by is the newest.
func (b *besideKeys) bound(by extremes) {
	b.found[b.collections%restCollections] = by
	b.collections++
	for _, other := range b.found[:min(b.collections, restCollections)] {
		by.least, by.most = min(by.least, other.least), min(by.most, other.most)
	}
	b.bytes = min(max(b.bytes, by.least), by.most)
}
