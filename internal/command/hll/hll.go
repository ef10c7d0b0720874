package hll

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/hll"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

var (
	errNotHLL     = resp.Error("WRONGTYPE Key is not a valid HyperLogLog string value.")
	errCorruptHLL = resp.Error("INVALIDOBJ Corrupted HLL object detected")
)

// sketchOf returns the value of e as a HyperLogLog. s is nil when e is nil, which stands for
// a missing key. The sketch aliases s.
func sketchOf(e *store.Entry) (s *store.String, sketch hll.Sketch, failure resp.Reply) {
	s, ok := command.As[*store.String](e)
	switch {
	case !ok:
		return nil, nil, resp.ErrWrongType
	case s == nil:
		return nil, nil, resp.NoReply
	case s.IsInt() || !hll.Valid(s.Bytes(nil)):
		return nil, nil, errNotHLL
	}
	return s, hll.Sketch(s.Bytes(nil)), resp.NoReply
}

// sketchForWrite returns the HyperLogLog under key for a command that writes. It stores an
// empty one under a missing key; then added is 1.
func sketchForWrite(
	c *command.Ctx, key []byte,
) (e *store.Entry, s *store.String, added int64, failure resp.Reply) {
	e = c.DB.LookupWrite(key)
	s, _, failure = sketchOf(e)
	if s == nil && !failure.IsError() {
		s = store.NewRaw(hll.New())
		return c.DB.Add(key, s), s, 1, failure
	}
	return e, s, 0, failure
}

func pfadd(c *command.Ctx, args resp.Args) resp.Reply {
	e, s, updates, failure := sketchForWrite(c, args[1])
	if failure.IsError() {
		return failure
	}
	sketch := hll.Sketch(s.Grow(0))
	for _, element := range args[2:] {
		changed, err := sketch.Add(element, c.Config.HLLSparseBytes)
		if err != nil {
			s.SetRaw(sketch)
			return errCorruptHLL
		}
		if changed {
			updates++
		}
	}
	s.SetRaw(sketch)
	if updates == 0 {
		return resp.Int(0)
	}
	sketch.Invalidate()
	c.Change(e, command.StringClass, "pfadd", updates)
	return resp.Int(1)
}

func pfcount(c *command.Ctx, args resp.Args) resp.Reply {
	if len(args) > 2 {
		merged, _, failure := mergeSketches(c, args[1:])
		if failure.IsError() {
			return failure
		}
		return resp.Int(int64(merged.Count()))
	}
	e := c.DB.Lookup(args[1])
	s, _, failure := sketchOf(e)
	switch {
	case failure.IsError():
		return failure
	case s == nil:
		return resp.Int(0)
	}
	sketch := hll.Sketch(s.Grow(0)) // the cardinality is written to the value
	n, ok := sketch.Cached()
	if !ok {
		var err error
		if n, err = sketch.Count(); err != nil {
			return errCorruptHLL
		}
		c.DB.Changing(e)
		sketch.Cache(n)
		c.Change(e, command.StringClass, "pfcount", 1)
	}
	return resp.Int(int64(n))
}

// mergeSketches returns the registers of several HyperLogLogs together. dense reports whether
// one of them is dense.
func mergeSketches(
	c *command.Ctx, keys resp.Args,
) (merged *hll.Registers, dense bool, failure resp.Reply) {
	merged = &hll.Registers{}
	for _, key := range keys {
		s, sketch, failure := sketchOf(c.DB.Lookup(key))
		switch {
		case failure.IsError():
			return nil, false, failure
		case s == nil:
			continue
		}
		dense = dense || sketch.Dense()
		if merged.Merge(sketch) != nil {
			return nil, false, errCorruptHLL
		}
	}
	return merged, dense, resp.NoReply
}

func pfmerge(c *command.Ctx, args resp.Args) resp.Reply {
	merged, dense, failure := mergeSketches(c, args[1:])
	if failure.IsError() {
		return failure
	}
	e, s, _, failure := sketchForWrite(c, args[1])
	if failure.IsError() {
		return failure
	}
	sketch := hll.Sketch(s.Grow(0))
	if dense && sketch.ToDense() != nil {
		return errCorruptHLL
	}
	sketch.Raise(merged, c.Config.HLLSparseBytes)
	s.SetRaw(sketch)
	c.Change(e, command.StringClass, "pfadd", 1)
	return resp.OK
}
