package hll

import "encoding/binary"

// dense returns the register of a dense sketch.
func (s Sketch) register(index int) byte {
	at, shift := headerSize+index*registerBits/8, index*registerBits%8
	v := uint(s[at])
	if at+1 < len(s) {
		v |= uint(s[at+1]) << 8
	}
	return byte(v>>shift) & maxRegister
}

// setDense raises a register of a dense sketch to value and reports whether it was less.
func (s Sketch) setDense(index int, value byte) bool {
	if s.register(index) >= value {
		return false
	}
	at, shift := headerSize+index*registerBits/8, index*registerBits%8
	mask, v := uint(maxRegister)<<shift, uint(value)<<shift
	s[at] = s[at]&^byte(mask) | byte(v)
	if at+1 < len(s) {
		s[at+1] = s[at+1]&^byte(mask>>8) | byte(v>>8)
	}
	return true
}

// eachDense calls do for every register of a dense sketch, eight registers at a time.
func (s Sketch) eachDense(do func(index int, value byte)) {
	six := s[headerSize:] // bytes hold eight registers
	for index := 0; index < registers; index, six = index+8, six[6:] {
		v := uint64(binary.LittleEndian.Uint32(six)) | uint64(binary.LittleEndian.Uint16(six[4:]))<<32
		for i := range 8 {
			do(index+i, byte(v)&maxRegister)
			v >>= registerBits
		}
	}
}

// Decode calls do for every register in turn. A sparse sketch has become dense before.
func (s Sketch) Decode(do func(index int, value byte)) {
	s.eachDense(do)
}

// ToDense makes the sketch dense and keeps the cached cardinality. On ErrCorrupt the sketch
// stays as it is.
func (s *Sketch) ToDense() error {
	if s.Dense() {
		return nil
	}
	d := make(Sketch, denseSize)
	copy(d, (*s)[:headerSize])
	d[4] = dense
	err := s.eachRun(func(index, length int, value byte) {
		for i := index; i < index+length; i++ {
			d.setDense(i, value)
		}
	})
	if err == nil {
		*s = d
	}
	return err
}
