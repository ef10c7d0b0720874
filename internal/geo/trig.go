package geo

import "math"

// Distances are printed and stored with all their digits, so a sine must have the last digit
// that the C library computes. The C library's functions are wrong by at most 0.55 units of
// the last digit, the functions of package math by more. The functions below compute with pairs of
// float64 and round once.

// pair is the unrounded sum of two numbers; low is less than half a unit of high's last
// digit.
type pair struct{ high, low float64 }

// twoSum returns a + b.
func twoSum(a, b float64) pair {
	sum := a + b
	part := sum - a
	return pair{sum, (a - (sum - part)) + (b - part)}
}

// twoProduct returns a * b.
func twoProduct(a, b float64) pair {
	p := float64(a * b)
	return pair{p, math.FMA(a, b, -p)}
}

// quickSum is twoSum for an a that is not less than b, or 0 together with it.
func quickSum(a, b float64) pair {
	sum := a + b
	return pair{sum, b - (sum - a)}
}

// plus returns p + q. p is not less than q.
func (p pair) plus(q pair) pair {
	s := quickSum(p.high, q.high)
	return quickSum(s.high, s.low+(p.low+q.low))
}

func (p pair) times(q pair) pair {
	m := twoProduct(p.high, q.high)
	return quickSum(m.high, m.low+math.FMA(p.high, q.low, float64(p.low*q.high)))
}

func (p pair) negated() pair { return pair{-p.high, -p.low} }

func (p pair) rounded() float64 { return p.high + p.low }

// Half of pi in three parts. The first has 33 bits, so that a small multiple of it is exact.
const (
	halfPi1 = 0x1.921fb544p+00
	halfPi2 = 0x1.0b4611a626331p-34
	halfPi3 = 0x1.1701b839a2520p-88
)

// quadrant returns x, which is between -4 and 4, as the angle turns*pi/2 + rest with a rest
// of at most pi/4.
func quadrant(x float64) (turns int, rest pair) {
	if math.Abs(x) < 0.75 {
		return 0, pair{high: x}
	}
	k := math.Round(x / (math.Pi / 2))
	near := x - k*halfPi1
	p2 := twoProduct(k, halfPi2)
	rest = twoSum(near, -p2.high)
	return int(k), twoSum(rest.high, rest.low-p2.low-k*halfPi3)
}

// sinNear returns the sine of an angle of at most pi/4, by its series. The terms behind the
// second one are so small that a float64 is exact enough for them.
func sinNear(x pair) pair {
	z := x.times(x)
	t := z.high
	tail := math.FMA(t, 1./355687428096000, -1./1307674368000)
	tail = math.FMA(t, math.FMA(t, tail, 1./6227020800), -1./39916800)
	tail = math.FMA(t, math.FMA(t, tail, 1./362880), -1./5040)
	s := pair{0x1.1111111111111p-07, 0x1.1111111111111p-63}.plus(z.times(pair{high: tail})) // 1/5!
	s = pair{-0x1.5555555555555p-03, -0x1.5555555555555p-57}.plus(z.times(s))               // -1/3!
	return x.plus(x.times(z).times(s))
}

// cosNear returns the cosine of an angle of at most pi/4, as sinNear does.
func cosNear(x pair) pair {
	z := x.times(x)
	t := z.high
	tail := math.FMA(t, 1./20922789888000, -1./87178291200)
	tail = math.FMA(t, math.FMA(t, tail, 1./479001600), -1./3628800)
	tail = math.FMA(t, math.FMA(t, tail, 1./40320), -1./720)
	s := pair{0x1.5555555555555p-05, 0x1.5555555555555p-59}.plus(z.times(pair{high: tail})) // 1/4!
	s = pair{high: -0.5}.plus(z.times(s))
	return pair{high: 1}.plus(z.times(s))
}

// sinPair returns the sine of x, which is between -4 and 4.
func sinPair(x float64) pair {
	turns, rest := quadrant(x)
	switch turns & 3 {
	case 0:
		return sinNear(rest)
	case 1:
		return cosNear(rest)
	case 2:
		return sinNear(rest).negated()
	}
	return cosNear(rest).negated()
}

// sin returns the sine of x, which is between -4 and 4.
func sin(x float64) float64 {
	if x == 0 {
		return x
	}
	return sinPair(x).rounded()
}

// cos returns the cosine of x, which is between -2 and 2.
func cos(x float64) float64 {
	turns, rest := quadrant(x)
	switch turns & 3 {
	case 0:
		return cosNear(rest).rounded()
	case 1:
		return sinNear(rest).negated().rounded()
	}
	return sinNear(rest).rounded()
}

// asin returns the arc sine of x, which is not negative. It is NaN for an x above 1.
func asin(x float64) float64 {
	if x == 0 || x >= 1 || math.IsNaN(x) {
		return math.Asin(x)
	}
	guess := math.Asin(x)
	if x > 0.7 {
		guess = math.Pi/2 - 2*math.Asin(math.Sqrt((1-x)/2)) // keeps the digits near 1
	}
	s := sinPair(guess) // one step of Newton's method
	return guess + (x-s.high-s.low)/math.Sqrt((1-x)*(1+x))
}
