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
}

// NewSearch returns a search for the points in a shape.
func NewSearch(s Shape) *Search {
	reach := s.Radius
	if s.Box {
		reach = s.Width / 2
	}
	sine := math.Sin(min(reach/(2*earthRadius), math.Pi/2))
	return &Search{s, cos(s.Center.Latitude * perDegree), sine * sine}
}

// roughness is the part of a haversine that Contains does not trust.
const roughness = 1e-6

// Contains reports whether a point is in the shape. It compares haversines, which need no
// exact sine, and computes the distance only for a point near the border.
func (s *Search) Contains(p Point) bool {
	center := s.shape.Center
	latA, latB := center.Latitude*perDegree, p.Latitude*perDegree
	v := math.Sin((p.Longitude*perDegree - center.Longitude*perDegree) / 2)
	haversine := 0.0
	if s.shape.Box {
		if distanceNorth(p.Latitude, center.Latitude) > s.shape.Height/2 {
			return false
		}
		c := math.Cos(latB) * v
		haversine = c * c
	} else {
		u := math.Sin((latB - latA) / 2)
		haversine = u*u + s.cosCenter*math.Cos(latB)*v*v
	}
	switch {
	case haversine > s.limit+s.limit*roughness:
		return false
	case haversine < s.limit-s.limit*roughness:
		return true
	case s.shape.Box:
		return !(Distance(p, Point{center.Longitude, p.Latitude}) > s.shape.Width/2)
	}
	return !(s.Distance(p) > s.shape.Radius)
}

// Distance returns the distance of a point from the shape's center, in meters.
func (s *Search) Distance(p Point) float64 { return distance(s.shape.Center, p, s.cosCenter) }

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
// of the center, and those of its eight neighbours that the shape reaches.
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
