package geo

import "math"

const (
	earthRadius = 6372797.560856 // m
	halfEquator = 20037726.37    // m, on the map
	perDegree   = math.Pi / 180  // radians
)

// Distance returns the distance of two points in meters.
func Distance(a, b Point) float64 {
	return distance(a, b, cos(a.Latitude*perDegree))
}

// distance is Distance with the cosine of a's latitude.
func distance(a, b Point, cosA float64) float64 {
	v := sin((b.Longitude*perDegree - a.Longitude*perDegree) / 2)
	if v == 0 {
		return distanceNorth(a.Latitude, b.Latitude)
	}
	latA, latB := a.Latitude*perDegree, b.Latitude*perDegree
	u := sin((latB - latA) / 2)
	return 2.0 * earthRadius *
		asin(math.Sqrt(float64(u*u)+float64(cosA*cos(latB)*v*v)))
}

// distanceNorth returns the distance of two latitudes in meters.
func distanceNorth(a, b float64) float64 {
	return earthRadius * math.Abs(b*perDegree-a*perDegree)
}

// Shape is the area of a search: a circle or a box around its center. The lengths are in
// meters.
type Shape struct {
	Center        Point
	Box           bool
	Radius        float64 // of a circle
	Width, Height float64 // of a box
}

// Search is a Shape that is ready to measure points.
type Search struct {
	shape     Shape
	cosCenter float64 // the cosine of the center's latitude
	limit     float64 // haversine of the circle's radius, or of half the box's width
	window    window
}

// NewSearch returns a search for the points in a shape.
func NewSearch(s Shape) *Search {
	reach := s.Radius
	if s.Box {
		reach = s.Width / 2
	}
	sine := math.Sin(min(reach/(2*earthRadius), math.Pi/2))
	return &Search{s, cos(s.Center.Latitude * perDegree), sine * sine, s.window()}
}

// roughness is the part of a haversine that is not trusted. It is far more than any rounding.
const roughness = 1e-6

// Contains reports whether a point is in the shape. It compares haversines, which need no
// exact sine, and computes the distance only for a point near the border.
func (s *Search) Contains(p Point) bool {
	haversine := 0.0
	if s.shape.Box {
		if distanceNorth(p.Latitude, s.shape.Center.Latitude) > s.shape.Height/2 {
			return false
		}
		c := math.Cos(p.Latitude*perDegree) * s.halfEast(p)
		haversine = c * c
	} else {
		haversine = s.Haversine(p)
	}
	switch {
	case haversine > s.limit+s.limit*roughness:
		return false
	case haversine < s.limit-s.limit*roughness:
		return true
	case s.shape.Box:
		return !(Distance(p, Point{s.shape.Center.Longitude, p.Latitude}) > s.shape.Width/2)
	}
	return !(s.Distance(p) > s.shape.Radius)
}

// Haversine returns the haversine of a point's distance from the center: 0 at the center, 1 on
// the other side of the earth. It costs far less than the distance, and is less exact.
func (s *Search) Haversine(p Point) float64 {
	latitude := p.Latitude * perDegree
	u, v := math.Sin((latitude-s.shape.Center.Latitude*perDegree)/2), s.halfEast(p)
	return u*u + s.cosCenter*math.Cos(latitude)*v*v
}

// halfEast returns the sine of half the angle between the meridians of the center and a point.
func (s *Search) halfEast(p Point) float64 {
	return math.Sin((p.Longitude*perDegree - s.shape.Center.Longitude*perDegree) / 2)
}

// CompareHaversines returns -1 or 1 if the distance that belongs to a is surely less or greater
// than b's. It returns 0 if only the distances can tell.
func CompareHaversines(a, b float64) int {
	switch {
	case max(a, b) > 1-roughness: // the distance of an opposite point may be NaN
		return 0
	case a < b-b*roughness:
		return -1
	case b < a-a*roughness:
		return 1
	}
	return 0
}

// Distance returns the distance of a point from the shape's center, in meters.
func (s *Search) Distance(p Point) float64 { return distance(s.shape.Center, p, s.cosCenter) }

// Rounded returns a distance times scale, rounded to an integer, by the distance's haversine. ok
// is false if only the distance can tell.
func Rounded(haversine, scale float64) (n int64, ok bool) {
	const tolerance = 1e-12 // far more than the error of the next line
	d := 2 * earthRadius * math.Asin(math.Sqrt(haversine)) * scale
	low, high := math.Round(d-d*tolerance), math.Round(d+d*tolerance)
	return int64(low), low == high && haversine < 0.5 // an arc sine near 1 is less exact
}

// bounds returns the rectangle around the shape.
func (s *Shape) bounds() area {
	width, height := s.Radius, s.Radius
	if s.Box {
		width, height = s.Width/2, s.Height/2
	}
	north := height / earthRadius / perDegree
	// The circles of latitude are shortest at the shape's side that is nearer to a pole.
	nearPole := s.Center.Latitude + north
	if s.Center.Latitude < 0 {
		nearPole = s.Center.Latitude - north
	}
	east := width / earthRadius / math.Cos(nearPole*perDegree) / perDegree
	return area{
		s.Center.Longitude - east, s.Center.Latitude - north,
		s.Center.Longitude + east, s.Center.Latitude + north,
	}
}

// steps estimates the steps of a cell that, with its neighbours, covers a circle.
func steps(radius, latitude float64) uint {
	if radius == 0 {
		return allSteps
	}
	n := -1
	for ; radius < halfEquator; radius *= 2 {
		n++
	}
	if math.Abs(latitude) > 66 { // meridians are close together
		n--
	}
	if math.Abs(latitude) > 80 {
		n--
	}
	return uint(min(max(n, 1), allSteps))
}

// Scores returns the ranges of scores [low, high) of the cells that cover the shape: the cell
// of the center, and the ones of its eight neighbours that the shape reaches.
func (s *Search) Scores() (ranges [][2]float64) {
	shape := &s.shape
	radius := shape.Radius
	if shape.Box {
		w, h := shape.Width/2, shape.Height/2
		radius = math.Sqrt(float64(w*w) + float64(h*h))
	}
	bounds := shape.bounds()
	center := cellOf(shape.Center, steps(radius, shape.Center.Latitude))
	if center.steps > 1 && !center.coversWithNeighbours(bounds) {
		center = cellOf(shape.Center, center.steps-1)
	}
	around := center.area()
	last := cell{}
	for i, d := range [][2]int{
		{0, 0}, {0, 1}, {0, -1}, {1, 0}, {-1, 0}, {1, 1}, {-1, 1}, {1, -1}, {-1, -1},
	} {
		beyond := d[0] < 0 && around.west < bounds.west || d[0] > 0 && around.east > bounds.east ||
			d[1] < 0 && around.south < bounds.south || d[1] > 0 && around.north > bounds.north
		if beyond && center.steps >= 2 {
			continue
		}
		c := center.move(d[0], d[1])
		if i > 0 && c == last {
			continue // on a map of two columns the neighbours are the same cell
		}
		if i > 0 {
			last = c
		}
		low, high := c.scores()
		ranges = append(ranges, [2]float64{low, high})
	}
	return ranges
}

// coversWithNeighbours reports whether the cell and its neighbours reach all sides of a
// rectangle.
func (c cell) coversWithNeighbours(a area) bool {
	return !(c.move(0, 1).area().north < a.north || c.move(0, -1).area().south > a.south ||
		c.move(1, 0).area().east < a.east || c.move(-1, 0).area().west > a.west)
}
