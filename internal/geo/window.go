package geo

import "math"

// window is a range of rows and columns of the map with all steps. It has every point of a
// shape, and some more.
type window struct{ west, south, east, north uint32 }

// margin widens a window by about 10 cm in degrees: more than any rounding.
const margin = 1e-6

// window returns the window of the shape. It compares whole numbers, so that a search
// measures few of the points that it does not return.
func (s *Shape) window() window {
	up := s.Radius
	if s.Box {
		up = s.Height / 2
	}
	up = up/earthRadius/perDegree + margin
	south := max(s.Center.Latitude-up, -maxLatitude)
	north := min(s.Center.Latitude+up, maxLatitude)
	w := window{south: row(south), north: row(north), east: 1 << allSteps}
	side := s.meridians(max(math.Abs(south), math.Abs(north))) + margin
	west, east := s.Center.Longitude-side, s.Center.Longitude+side
	if west > -maxLongitude && east < maxLongitude {
		w.west = fraction(west, maxLongitude, allSteps)
		w.east = fraction(east, maxLongitude, allSteps)
	}
	return w
}

func row(latitude float64) uint32 { return fraction(latitude, maxLatitude, allSteps) }

// meridians returns how far the shape reaches to the east, in degrees. far is the greatest
// absolute latitude that it reaches.
func (s *Shape) meridians(far float64) float64 {
	if s.Box {
		sine := math.Sin(min(s.Width/4/earthRadius, math.Pi/2)) / math.Cos(far*perDegree)
		return 2 * math.Asin(min(1, sine)) / perDegree
	}
	angle := s.Radius / earthRadius
	if angle+math.Abs(s.Center.Latitude)*perDegree >= math.Pi/2-margin {
		return 2 * maxLongitude // a pole is in the circle
	}
	sine := math.Sin(angle) / math.Cos(s.Center.Latitude*perDegree)
	return math.Asin(min(1, sine)) / perDegree
}

// MayContain reports whether the point of a score may be in the shape. It is fast, and false
// only if Contains is false.
func (s *Search) MayContain(score float64) bool {
	bits := scoreBits(score)
	if bits >= 1<<(2*allSteps) {
		return true
	}
	y := gather(bits)
	if y < s.window.south || y > s.window.north {
		return false
	}
	x := gather(bits >> 1)
	return x >= s.window.west && x <= s.window.east
}
