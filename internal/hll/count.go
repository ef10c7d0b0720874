package hll

import "math"

// histogram counts the registers of each value.
type histogram [maxRegister + 1]int

// Count estimates the number of distinct elements.
func (s Sketch) Count() (n uint64, err error) {
	var h histogram
	if s.Dense() {
		s.eachDense(func(_ int, value byte) { h[value]++ })
		return h.estimate(), nil
	}
	h[0] = registers
	err = s.eachRun(func(_, length int, value byte) {
		h[value] += length
		h[0] -= length
	})
	return h.estimate(), err
}

// Count estimates the number of distinct elements of merged sketches.
func (r *Registers) Count() uint64 {
	var h histogram
	for _, value := range r {
		h[value]++
	}
	return h.estimate()
}

// estimate computes the cardinality as in Otmar Ertl, "New cardinality estimation algorithms
// for HyperLogLog sketches", 2017. The conversions keep a compiler from joining a product and
// a sum with one rounding: the last digit would depend on the processor.
func (h *histogram) estimate() uint64 {
	const m, hashBits = float64(registers), 64 - indexBits
	const alpha = 0.721347520444481703680 // 1 / (2 ln 2)
	z := float64(m * tau((m-float64(h[hashBits+1]))/m))
	for value := hashBits; value >= 1; value-- {
		z = (z + float64(h[value])) * 0.5
	}
	z += float64(m * sigma(float64(h[0])/m))
	n := math.Round(alpha * m * m / z)
	if n >= 1<<63 {
		return 1 << 63 // only of bytes that no addition makes
	}
	return uint64(n)
}

// sigma corrects the estimate for registers that are 0. x is their share.
func sigma(x float64) float64 {
	if x == 1 {
		return math.Inf(1)
	}
	y, z := 1.0, x
	for last := math.NaN(); z != last; {
		x *= x
		last = z
		z += float64(x * y)
		y += y
	}
	return z
}

// tau corrects the estimate for registers that are full. x is the share of the others.
func tau(x float64) float64 {
	if x == 0 || x == 1 {
		return 0
	}
	y, z := 1.0, 1-x
	for last := math.NaN(); z != last; {
		x = math.Sqrt(x)
		last = z
		y *= 0.5
		z -= float64((1 - x) * (1 - x) * y)
	}
	return z / 3
}
