package lualib

import "math"

// Redis uses glibc's functions, whose error is a hundredth of a unit in the last place
// above the error of correct rounding. The error of Go's functions is up to a unit. Scripts
// see the difference: math.floor(125^(1/3)) is 5 with glibc and 4 with Go. So this
// file computes powers, exponentials and logarithms with twice the digits, and rounds
// once. The result is glibc's, except where glibc rounds incorrectly.

// wide is the sum hi + lo, where |lo| is at most half a unit in the last place of hi.
type wide struct{ hi, lo float64 }

// quickSum is a + b. It requires |a| >= |b|.
func quickSum(a, b float64) wide {
	s := a + b
	return wide{s, b - (s - a)}
}

// sum is a + b.
func sum(a, b float64) wide {
	s := a + b
	t := s - a
	return wide{s, (a - (s - t)) + (b - t)}
}

func (a wide) plus(b wide) wide {
	s := sum(a.hi, b.hi)
	return quickSum(s.hi, s.lo+(a.lo+b.lo))
}

func (a wide) times(b wide) wide {
	p := a.hi * b.hi
	return quickSum(p, math.FMA(a.hi, b.lo, math.FMA(a.lo, b.hi, math.FMA(a.hi, b.hi, -p))))
}

func (a wide) over(b wide) wide {
	q := a.hi / b.hi
	rest := a.plus(b.times(wide{-q, 0}))
	return quickSum(q, (rest.hi+rest.lo)/b.hi)
}

const ln2High = 0x1.62e42fefa39efp-1

var (
	wideOne    = wide{1, 0}
	wideLn2    = wide{ln2High, math.Ln2 - ln2High}
	odds       = oddFractions()
	factorials = inverseFactorials()
)

// oddFractions returns 1, 1/3, 1/5 …, the coefficients of the logarithm's series.
func oddFractions() (f [17]wide) {
	for i := range f {
		f[i] = wideOne.over(wide{float64(2*i + 1), 0})
	}
	return f
}

// inverseFactorials returns 1, 1, 1/2, 1/6 …, the coefficients of the exponential's
// series.
func inverseFactorials() (f [11]wide) {
	f[0] = wideOne
	for i := range f[1:] {
		f[i+1] = f[i].over(wide{float64(i + 1), 0})
	}
	return f
}

// series is the sum of c[i]*x^i. The terms from c[narrow] on are small, so ordinary
// precision suffices for them. The result has about 80 correct bits. A power at the
// end of the range loses 10 of them, and 53 are needed.
func series(c []wide, narrow int, x wide) wide {
	rest := 0.0
	for i := len(c) - 1; i >= narrow; i-- {
		rest = math.FMA(rest, x.hi, c[i].hi)
	}
	s := wide{rest, 0}
	for i := narrow - 1; i >= 0; i-- {
		s = s.times(x).plus(c[i])
	}
	return s
}

// logarithm is ln x for a positive finite x. It uses ln m = 2 artanh((m-1)/(m+1)).
func logarithm(x float64) wide {
	m, e := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m, e = 2*m, e-1
	}
	s := wide{m - 1, 0}.over(sum(m, 1))
	l := s.times(series(odds[:], 6, s.times(s)))
	l = wide{2 * l.hi, 2 * l.lo}
	if e == 0 {
		return l
	}
	return wideLn2.times(wide{float64(e), 0}).plus(l)
}

// exponential is e to the power of x.
func exponential(x wide) float64 {
	switch {
	case x.hi > 710:
		return math.Inf(1)
	case x.hi < -746:
		return 0
	}
	const halvings = 6
	k := math.RoundToEven(x.hi * math.Log2E)
	r := x.plus(wideLn2.times(wide{-k, 0}))
	r = wide{math.Ldexp(r.hi, -halvings), math.Ldexp(r.lo, -halvings)}
	y := series(factorials[:], 4, r)
	for range halvings {
		y = y.times(y)
	}
	return scaled(y, int(k))
}

// scaled is x*2^k, rounded once even if the result is denormal.
func scaled(x wide, k int) float64 {
	const tiny = -1021
	if k > tiny {
		return math.Ldexp(x.hi, k)
	}
	const unit = 1074
	hi, lo := math.Ldexp(x.hi, k+unit), math.Ldexp(x.lo, k+unit)
	n := math.RoundToEven(hi)
	switch rest := (hi - n) + lo; {
	case rest > 0.5:
		n++
	case rest < -0.5:
		n--
	}
	return math.Ldexp(n, -unit)
}

// Pow is x to the power of y, with the result of C's pow.
func Pow(x, y float64) float64 {
	switch {
	case y == 2:
		return x * x
	case y == 0.5 && x > 0:
		return math.Sqrt(x)
	case x == 0 || x-x != 0 || !(math.Abs(y) < 1<<63) || x < 0 && y != math.Trunc(y):
		return powNaN(math.Pow(x, y), x, y)
	}
	if n := int64(y); float64(n) == y && n >= -64 && n <= 64 {
		if p, ok := wholePower(x, int(n)); ok {
			return p
		}
	}
	p := exponential(logarithm(math.Abs(x)).times(wide{y, 0}))
	if x < 0 && math.Mod(y, 2) != 0 {
		return -p
	}
	return p
}

// powNaN returns result, or if it is NaN, a NaN with the sign of C's pow.
func powNaN(result, x, y float64) float64 {
	if math.Abs(math.Mod(y, 2)) == 1 {
		x = math.Abs(x) // in glibc a NaN to an odd power is positive
	}
	invalid := math.Copysign(math.NaN(), -1)
	if y != y {
		invalid = y
	}
	return sameNaN(result, x, invalid)
}

// wholePower is x to the power of n, by multiplication. ok is false if an intermediate
// result is so large or small that digits may be lost.
func wholePower(x float64, n int) (p float64, ok bool) {
	const largest, smallest = 1e250, 1e-250
	result, square := wideOne, wide{x, 0}
	for i := max(n, -n); i > 0; i >>= 1 {
		if i&1 != 0 {
			result = result.times(square)
		}
		if i > 1 {
			square = square.times(square)
		}
	}
	if n < 0 {
		result = wideOne.over(result)
	}
	size, last := math.Abs(result.hi), math.Abs(square.hi)
	return result.hi, size < largest && size > smallest && last < largest && last > smallest
}

// exp is e to the power of x.
func exp(x float64) float64 {
	if x != x {
		return x
	}
	return exponential(wide{x, 0})
}

// log is the natural logarithm.
func log(x float64) float64 {
	if !(x > 0) || x > math.MaxFloat64 {
		return math.Log(x)
	}
	return logarithm(x).hi
}

// log10 is the decimal logarithm. Like glibc it adds the logarithms of the power of two
// and of the rest, which gives the same rounding errors.
func log10(x float64) float64 {
	if !(x > 0) || x > math.MaxFloat64 {
		return math.Log10(x)
	}
	const (
		high = 0x1.34413509f6p-2 // of log10(2), so that products are exact
		low  = 0x1.9fef311f12b36p-42
	)
	m, e := math.Frexp(x)
	if e > 0 {
		m, e = 2*m, e-1
	}
	z := float64(float64(e)*low) + float64(math.Log10E*log(m))
	return z + float64(float64(e)*high)
}
