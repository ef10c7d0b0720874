package hll

// The longest runs, in registers, and the greatest value that a run can have.
const (
	longestShortZeros = 64
	longestValue      = 4
	greatestValue     = 32
)

// run is one run of a sparse sketch.
type run struct {
	size   int  // bytes: 1 or 2
	length int  // registers
	value  byte // 0: a run of zeros
}

// runAt returns the run at a position. A second byte that is missing counts as 0.
func (s Sketch) runAt(at int) run {
	first := s[at]
	switch {
	case first&0x80 != 0:
		return run{1, int(first&3) + 1, first>>2&0x1f + 1}
	case first&0x40 == 0:
		return run{1, int(first) + 1, 0}
	}
	second := byte(0)
	if at+1 < len(s) {
		second = s[at+1]
	}
	return run{2, int(first&0x3f)<<8 | int(second) + 1, 0}
}

// measure returns the registers and bytes of the run at a position. It is runAt for a search,
// which passes thousands of runs.
func (s Sketch) measure(at int) (length, size int) {
	switch first := s[at]; {
	case first&0x80 != 0:
		return int(first&3) + 1, 1
	case first&0x40 == 0:
		return int(first) + 1, 1
	}
	return s.runAt(at).length, 2
}

func appendZeros(s Sketch, length int) Sketch {
	if length <= longestShortZeros {
		return append(s, byte(length-1))
	}
	return append(s, byte((length-1)>>8)|0x40, byte(length-1))
}

func appendValue(s Sketch, value byte, length int) Sketch {
	return append(s, 0x80|(value-1)<<2|byte(length-1))
}

func (r run) appendTo(s Sketch, length int) Sketch {
	switch {
	case length == 0:
		return s
	case r.value == 0:
		return appendZeros(s, length)
	}
	return appendValue(s, r.value, length)
}

// eachRun calls do for the runs of registers that are not 0. It returns ErrCorrupt when the
// runs do not cover the registers exactly. do never sees a register that does not exist.
func (s Sketch) eachRun(do func(index, length int, value byte)) error {
	index := 0
	for at := headerSize; at < len(s); {
		r := s.runAt(at)
		if r.value > 0 {
			if index+r.length > registers {
				return ErrCorrupt
			}
			do(index, r.length, r.value)
		}
		index += r.length
		at += r.size
	}
	if index != registers {
		return ErrCorrupt
	}
	return nil
}

// EachRun calls do for every run of a sparse sketch with the number of its registers and
// their value. wide tells a run of zeros in two bytes.
func (s Sketch) EachRun(do func(length int, value byte, wide bool)) {
	for at := headerSize; at < len(s); {
		r := s.runAt(at)
		do(r.length, r.value, r.size == 2)
		at += r.size
	}
}

// position is where a search in a sparse sketch begins. The zero position is the first run.
type position struct {
	offset int // of a run, counted from the first
	index  int // of the run's first register
}

// setSparse is set for a sparse sketch.
func (s *Sketch) setSparse(
	from *position, index int, value byte, limit int,
) (changed bool, err error) {
	if value > greatestValue {
		return s.setPromoted(index, value)
	}
	// beforeThat and before are the two runs in front of the one at at.
	at, first := headerSize+from.offset, from.index
	before, beforeThat := *from, *from
	for {
		if at >= len(*s) {
			return false, ErrCorrupt
		}
		length, size := s.measure(at)
		if index < first+length {
			break
		}
		before, beforeThat = position{at - headerSize, first}, before
		at += size
		first += length
	}
	r := s.runAt(at)
	*from = beforeThat
	if r.value >= value {
		return false, nil
	}
	var buf [5]byte // the runs in place of r
	parts := r.appendTo(Sketch(buf[:0]), index-first)
	parts = appendValue(parts, value, 1)
	parts = r.appendTo(parts, first+r.length-1-index)
	grows := len(parts) - r.size
	if grows > 0 && len(*s)+grows > limit {
		return s.setPromoted(index, value)
	}
	s.replaceRun(at, r.size, parts)
	s.mergeRuns(headerSize + before.offset)
	s.Invalidate()
	return true, nil
}

// setPromoted makes the sketch dense and raises a register.
func (s *Sketch) setPromoted(index int, value byte) (changed bool, err error) {
	if err := s.ToDense(); err != nil {
		return false, err
	}
	return s.setDense(index, value), nil
}

// replaceRun puts parts in place of the size bytes at at. If the second byte of a run is
// missing, the sketch is corrupt and loses the last byte of parts, as in Redis.
func (s *Sketch) replaceRun(at, size int, parts []byte) {
	old := *s
	end := len(old) + len(parts) - size
	var tail []byte
	if at+size < len(old) {
		tail = old[at+size:]
	}
	for len(old) < at+len(parts)+len(tail) {
		old = append(old, 0)
	}
	copy(old[at+len(parts):], tail)
	copy(old[at:], parts)
	*s = old[:end]
}

// mergeRuns joins runs of equal values among the five runs from at on.
func (s *Sketch) mergeRuns(at int) {
	for left := 5; left > 0 && at < len(*s); left-- {
		r := s.runAt(at)
		if r.value == 0 {
			at += r.size
			continue
		}
		if at+1 < len(*s) {
			next := s.runAt(at + 1)
			if length := r.length + next.length; next.value == r.value && length <= longestValue {
				appendValue((*s)[:at], r.value, length)
				*s = append((*s)[:at+1], (*s)[at+2:]...)
				continue
			}
		}
		at++
	}
}
