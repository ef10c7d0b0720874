package record

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/inspect"
	"github.com/lockredis/lockredis/store"
)

// entered records which owners came into a lock, a queue or a permit semaphore, and forgets the
// owners that went out.
func (r *Record) entered(p *part, ch *command.Change, isHash bool) {
	names, n := &ch.Elems, ch.Elems.Len()
	if names.Went {
		for i := range n {
			p.entries.Drop(names.Name(i))
		}
		return
	}
	if !isHash && r.noted(p).hints.Semaphore == "" && !inspect.IsQueue(p.as) {
		return
	}
	for i := range n {
		name := names.Name(i)
		entry, isNew := p.entries.Again(name)
		if entry == nil {
			if isHash && !r.mayOwn(p, name) {
				continue
			}
			entry, isNew = p.entries.Add(name), true
		}
		entry.By = Origin(r.script.by)
		if names.Added == int64(n) || isNew && names.Added > 0 {
			entry.Since = r.space.Now()
			if isHash {
				r.history.Add(ch.DB, ch.Key, name, entry)
			}
		}
	}
}

// few is how many owners are kept whether they are in the value or not.
const few = 16

// mayOwn reports whether a field of a hash has the form of an owner.
func (r *Record) mayOwn(p *part, field []byte) bool {
	return r.known.MayOwn(field, func() bool { return r.noted(p).hints.Lock })
}

// prune forgets owners that are no longer in the value, when most are. They were
// removed by commands that do not name what they remove, such as ZREMRANGEBYSCORE.
func prune(p *part, in store.Value) {
	var left inspect.Entries
	keep := func(name []byte) bool {
		if entry, ok := p.entries.Get(name); ok {
			*left.Add(name) = entry
		}
		return true
	}
	switch v := in.(type) {
	case *store.Hash:
		if p.entries.Len() > 2*v.Len() {
			v.Each(func(field, _ []byte) bool { return keep(field) })
			p.entries = left
		}
	case *store.List:
		if p.entries.Len() > 2*v.Len() {
			v.Each(keep)
			p.entries = left
		}
	case *store.ZSet:
		if p.entries.Len() > 2*v.Len() {
			v.Each(func(item store.ZItem) bool { return keep([]byte(item.Member)) })
			p.entries = left
		}
	}
}
