package geo

import "math"

// The limits of a Point, in degrees.
const (
	maxLongitude = 180
	maxLatitude  = 85.05112878
)

// allSteps is the number of times that each axis is halved for a score.
const allSteps = 26

// Point is a place on the earth, in degrees.
type Point struct{ Longitude, Latitude float64 }

// Valid reports whether the point is within the limits.
func (p Point) Valid() bool {
	return math.Abs(p.Longitude) <= maxLongitude && math.Abs(p.Latitude) <= maxLatitude
}

// cell is a rectangle of the map: column x and row y of 2^steps columns and rows. A point on
// the eastern or northern edge is in column or row 2^steps, as in Redis.
type cell struct {
	x, y  uint32
	steps uint
}

// cellOf returns the cell of a point.
func cellOf(p Point, steps uint) cell {
	return cell{
		fraction(p.Longitude, maxLongitude, steps), fraction(p.Latitude, maxLatitude, steps), steps,
	}
}

// fraction returns which of 2^steps parts of -limit to limit a number is in.
func fraction(v, limit float64, steps uint) uint32 {
	return uint32((v + limit) / (limit + limit) * float64(uint64(1)<<steps))
}

// bits returns the cell's number: the bits of y and x in turn, y's lowest bit first.
func (c cell) bits() uint64 { return spread(c.y) | spread(c.x)<<1 }

// scores returns the range of scores [low, high) of the cell's points.
func (c cell) scores() (low, high float64) {
	bits, shift := c.bits(), 2*(allSteps-c.steps)
	return float64(bits << shift), float64((bits + 1) << shift)
}

// move returns the neighbour dx columns to the east and dy rows to the north. The map has no
// edges.
func (c cell) move(dx, dy int) cell {
	mask := uint32(1)<<c.steps - 1
	if dx != 0 {
		c.x = (c.x + uint32(dx)) & mask
	}
	if dy != 0 {
		c.y = (c.y + uint32(dy)) & mask
	}
	return c
}

// area is a rectangle, in degrees.
type area struct{ west, south, east, north float64 }

// area returns the cell's borders.
func (c cell) area() area {
	parts := float64(uint64(1) << c.steps)
	border := func(n uint32, limit float64) float64 {
		return -limit + float64(float64(n)/parts*(limit+limit))
	}
	return area{
		border(c.x, maxLongitude), border(c.y, maxLatitude),
		border(c.x+1, maxLongitude), border(c.y+1, maxLatitude),
	}
}

// Score returns the score that stands for the point.
func Score(p Point) float64 { return float64(cellOf(p, allSteps).bits()) }

// At returns the point that a score stands for: the middle of its cell. Any score of a sorted
// set is allowed.
func At(score float64) Point {
	bits := scoreBits(score)
	a := cell{gather(bits >> 1), gather(bits), allSteps}.area()
	return Point{
		min(max((a.west+a.east)/2, -maxLongitude), maxLongitude),
		min(max((a.south+a.north)/2, -maxLatitude), maxLatitude),
	}
}

// scoreBits converts a score to 64 bits as C does on amd64, where a negative or too large
// number has a result of its own.
func scoreBits(score float64) uint64 {
	const half = 1 << 63
	switch {
	case score < -half:
		return half
	case score < half:
		return uint64(int64(score))
	case score < 2*half:
		return uint64(score)
	}
	return 0
}

// Geohash returns the point's standard geohash with 11 characters. The last one is always 0:
// there are only 52 bits.
func Geohash(p Point) string {
	const alphabet = "0123456789bcdefghjkmnpqrstuvwxyz"
	bits := cell{
		fraction(p.Longitude, 180, allSteps), fraction(p.Latitude, 90, allSteps), allSteps,
	}.bits()
	var text [11]byte
	for i := range text {
		text[i] = alphabet[0]
		if i < 10 {
			text[i] = alphabet[bits>>(47-5*i)&31]
		}
	}
	return string(text[:])
}

// spread returns v with a zero before each bit.
func spread(v uint32) uint64 {
	b := uint64(v)
	b = (b | b<<16) & 0x0000ffff0000ffff
	b = (b | b<<8) & 0x00ff00ff00ff00ff
	b = (b | b<<4) & 0x0f0f0f0f0f0f0f0f
	b = (b | b<<2) & 0x3333333333333333
	return (b | b<<1) & 0x5555555555555555
}

// gather returns every second bit of b, from the lowest on. It undoes spread.
func gather(b uint64) uint32 {
	b &= 0x5555555555555555
	b = (b | b>>1) & 0x3333333333333333
	b = (b | b>>2) & 0x0f0f0f0f0f0f0f0f
	b = (b | b>>4) & 0x00ff00ff00ff00ff
	b = (b | b>>8) & 0x0000ffff0000ffff
	return uint32(b | b>>16)
}
