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

// roughDistance is distance with the functions of package math, which are faster. It is wrong
// by less than a part in roughness.
func roughDistance(a, b Point, cosA float64) float64 {
	latA, latB := a.Latitude*perDegree, b.Latitude*perDegree
	u := math.Sin((latB - latA) / 2)
	v := math.Sin((b.Longitude*perDegree - a.Longitude*perDegree) / 2)
	return 2.0 * earthRadius * math.Asin(min(math.Sqrt(u*u+cosA*math.Cos(latB)*v*v), 1))
}

const roughness = 1e6

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
}

// NewSearch returns a search for the points in a shape.
func NewSearch(s Shape) *Search {
	return &Search{s, cos(s.Center.Latitude * perDegree)}
}

// Contains reports whether a point is in the shape, and its distance from the center.
func (s *Search) Contains(p Point) (meters float64, in bool) {
	center := s.shape.Center
	if s.shape.Box {
		atLatitude := Point{center.Longitude, p.Latitude}
		if Distance(p, atLatitude) > s.shape.Width/2 ||
			distanceNorth(p.Latitude, center.Latitude) > s.shape.Height/2 {
			return 0, false
		}
		return distance(center, p, s.cosCenter), true
	}
	radius := s.shape.Radius
	if roughDistance(center, p, s.cosCenter) > radius+radius/roughness {
		return 0, false
	}
	meters = distance(center, p, s.cosCenter)
	return meters, !(meters > radius)
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
