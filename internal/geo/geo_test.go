package geo

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

func drawPoint(t *rapid.T, name string) Point {
	return Point{
		rapid.Float64Range(-maxLongitude, maxLongitude).Draw(t, name+" longitude"),
		rapid.Float64Range(-maxLatitude, maxLatitude).Draw(t, name+" latitude"),
	}
}

func TestAScoreStandsForAPlaceNearby(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPoint(t, "point")
		q := At(Score(p))
		if d := Distance(p, q); d > 1 {
			t.Fatalf("%v becomes %v, %v m away", p, q, d)
		}
		if Score(q) != Score(p) {
			t.Fatalf("the scores of %v and %v differ", p, q)
		}
	})
}

func TestEveryScoreIsAPlaceOnTheMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		score := rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{math.Inf(1), math.Inf(-1),
			-1, 1 << 63, 1 << 64, -1 << 63})).Draw(t, "score")
		if p := At(score); !p.Valid() {
			t.Fatalf("%v is %v", score, p)
		}
	})
}

func TestGatherUndoesSpread(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v, w := rapid.Uint32().Draw(t, "v"), rapid.Uint32().Draw(t, "w")
		if b := spread(v) | spread(w)<<1; gather(b) != v || gather(b>>1) != w {
			t.Fatalf("%x and %x become %x and %x", v, w, gather(b), gather(b>>1))
		}
	})
}

// redis-server 7.0.15 gave the places and geohashes.
func TestGeohashes(t *testing.T) {
	for want, p := range map[string]Point{
		"sqc8b49rny0": {13.361389, 38.115556}, "sqdtr74hyu0": {15.087269, 37.502669},
		"80000000000": {180, 0}, "yp05b5048p0": {90, 85.05112878},
	} {
		if got := Geohash(At(Score(p))); got != want {
			t.Errorf("the geohash of %v is %s, want %s", p, got, want)
		}
	}
}

// Every point in a shape must have a score in the ranges, and no range may overlap another.
func TestTheCellsOfASearchCoverItsShape(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// Near the poles Redis's cells miss a part of the shape.
		center := Point{rapid.Float64Range(-120, 120).Draw(t, "x"), rapid.Float64Range(-60, 60).Draw(t, "y")}
		size := math.Exp(rapid.Float64Range(0, 14).Draw(t, "log of the size"))
		shape := Shape{Center: center, Radius: size}
		if rapid.Bool().Draw(t, "box") {
			shape = Shape{Center: center, Box: true, Width: size,
				Height: size * rapid.Float64Range(0.1, 2).Draw(t, "height")}
		}
		s := NewSearch(shape)
		ranges := s.Scores()
		for i, a := range ranges {
			for _, b := range ranges[:i] {
				if a[0] < b[1] && b[0] < a[1] {
					t.Fatalf("%v and %v overlap", a, b)
				}
			}
		}
		degrees := size / 1e5
		for range 20 {
			p := Point{center.Longitude + degrees*rapid.Float64Range(-2, 2).Draw(t, "dx"),
				center.Latitude + degrees*rapid.Float64Range(-1, 1).Draw(t, "dy")}
			if !p.Valid() {
				continue
			}
			score := Score(p)
			p = At(score)
			if !s.Contains(p) {
				continue
			}
			found := false
			for _, r := range ranges {
				found = found || r[0] <= score && score < r[1]
			}
			if !found {
				t.Fatalf("no cell has %v", p)
			}
		}
	})
}

func TestContainsIsExactAtTheBorder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawPoint(t, "a"), drawPoint(t, "b")
		want := Distance(a, b)
		for _, radius := range []float64{want, math.Nextafter(want, 0), want * 2, want / 2} {
			s := NewSearch(Shape{Center: a, Radius: radius})
			if in := s.Contains(b); in != (want <= radius) || s.Distance(b) != want {
				t.Fatalf("radius %v: it is %v at %v; the distance is %v", radius, in, s.Distance(b), want)
			}
		}
		east := Distance(b, Point{a.Longitude, b.Latitude})
		north := distanceNorth(a.Latitude, b.Latitude)
		for _, width := range []float64{2 * east, 2 * math.Nextafter(east, 0), 3 * east, east} {
			for _, height := range []float64{2 * north, 2 * math.Nextafter(north, 0), north} {
				s := NewSearch(Shape{Center: a, Box: true, Width: width, Height: height})
				if in := s.Contains(b); in != (east <= width/2 && north <= height/2) {
					t.Fatalf("a box of %v by %v: %v; the distances are %v and %v",
						width, height, in, east, north)
				}
			}
		}
	})
}

// A search sorts by haversines where they are clear, so they must never contradict distances.
func TestHaversinesAreInTheOrderOfTheDistances(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		center, a := drawPoint(t, "center"), drawPoint(t, "a")
		reach := math.Exp(rapid.Float64Range(-40, 4).Draw(t, "log of the reach"))
		step := rapid.Float64Range(-1, 1)
		around := func(p Point, name string) Point {
			x := p.Longitude + reach*step.Draw(t, name+" dx")
			y := p.Latitude + reach*step.Draw(t, name+" dy")
			return Point{min(max(x, -maxLongitude), maxLongitude), min(max(y, -maxLatitude), maxLatitude)}
		}
		opposite := Point{center.Longitude - math.Copysign(maxLongitude, center.Longitude), -center.Latitude}
		mirror := Point{math.Remainder(2*center.Longitude-a.Longitude, 2*maxLongitude), a.Latitude}
		b := rapid.SampledFrom([]Point{
			a, drawPoint(t, "b"), center, opposite, mirror, around(a, "near a"),
			around(center, "near the center"), around(opposite, "near the opposite"),
			around(mirror, "near the mirror"),
		}).Draw(t, "which b")
		if rapid.Bool().Draw(t, "both near") {
			a = around(b, "near b")
		}
		s := NewSearch(Shape{Center: center})
		order := CompareHaversines(s.Haversine(a), s.Haversine(b))
		if exact := cmp.Compare(s.Distance(a), s.Distance(b)); order != 0 && order != exact {
			t.Fatalf("%v and %v from %v: %d, but the distances are %v and %v",
				a, b, center, order, s.Distance(a), s.Distance(b))
		}
	})
}

func TestARoundedDistanceHasTheDigitsOfTheDistance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		center, p := drawPoint(t, "center"), drawPoint(t, "p")
		if rapid.Bool().Draw(t, "near") {
			reach := math.Exp(rapid.Float64Range(-40, 0).Draw(t, "log of the reach"))
			p.Longitude = center.Longitude + reach*rapid.Float64Range(-1, 1).Draw(t, "dx")
			p.Latitude = min(max(center.Latitude+reach*rapid.Float64Range(-1, 1).Draw(t, "dy"),
				-maxLatitude), maxLatitude)
		}
		unit := rapid.SampledFrom([]float64{1, 1000, 0.3048, 1609.34}).Draw(t, "unit")
		s := NewSearch(Shape{Center: center})
		n, ok := Rounded(s.Haversine(p), 1e4/unit)
		want := strconv.FormatFloat(s.Distance(p)/unit, 'f', 4, 64)
		if got := fmt.Sprintf("%d.%04d", n/1e4, n%1e4); ok && got != want {
			t.Fatalf("from %v to %v: %s, want %s", center, p, got, want)
		}
	})
	if n, ok := Rounded(NewSearch(Shape{}).Haversine(Point{1, 1}), 10); n != 1_572_937 || !ok {
		t.Errorf("the distance is %d, %v", n, ok)
	}
}

func TestDistances(t *testing.T) {
	half := math.Pi * earthRadius
	for _, row := range []struct {
		a, b Point
		want float64
	}{
		{Point{0, 0}, Point{0, 0}, 0},
		{Point{-90, 0}, Point{90, 0}, half},
		{Point{10, -45}, Point{10, 45}, half / 2},
		{Point{0, 0}, Point{90, 0}, half / 2},
	} {
		if got := Distance(row.a, row.b); math.Abs(got-row.want) > 1e-6 {
			t.Errorf("from %v to %v is %v, want %v", row.a, row.b, got, row.want)
		}
	}
}

// The values are exact results, rounded once.
func TestSinesAreRoundedOnce(t *testing.T) {
	for _, row := range []struct {
		name      string
		got, want float64
	}{
		{"sin 1", sin(1), 0x1.aed548f090ceep-01},
		{"sin -1", sin(-1), -0x1.aed548f090ceep-01},
		{"sin 1e-9", sin(1e-9), 1e-9},
		{"sin pi", sin(math.Pi), 0x1.1a62633145c07p-53},
		{"sin -pi", sin(-math.Pi), -0x1.1a62633145c07p-53},
		{"cos 1", cos(1), 0x1.14a280fb5068cp-01},
		{"cos 0", cos(0), 1},
		{"cos -1.4", cos(-1.4), 0x1.5c17bbc13570bp-03},
		{"asin 1", asin(1), math.Pi / 2},
		{"asin 0.5", asin(0.5), 0x1.0c152382d7366p-01},
		{"asin 1 - 2^-53", asin(1 - 0x1p-53), 0x1.921fb50442d18p+00},
	} {
		if row.got != row.want {
			t.Errorf("%s is %x, want %x", row.name, row.got, row.want)
		}
	}
}

func TestSinesAreThoseOfPackageMathButForTheLastDigit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64Range(-math.Pi, math.Pi).Draw(t, "x")
		if got, want := sin(x), math.Sin(x); math.Abs(got-want) > 4e-16 {
			t.Fatalf("sin %v is %v, want %v", x, got, want)
		}
		if got := asin(math.Abs(sin(x / 4))); math.Abs(got-math.Abs(x/4)) > 4e-16 {
			t.Fatalf("asin(sin %v) is %v", x/4, got)
		}
	})
}

// MayContain must be true for every point in the shape, also near the poles and the date line.
func TestMayContainIsTrueForEveryPointInTheShape(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		center := drawPoint(t, "center")
		size := math.Exp(rapid.Float64Range(-3, 18).Draw(t, "log of the size"))
		shape := Shape{Center: center, Radius: size}
		if rapid.Bool().Draw(t, "box") {
			shape = Shape{Center: center, Box: true, Width: size,
				Height: size * math.Exp(rapid.Float64Range(-5, 5).Draw(t, "log of the height"))}
		}
		s := NewSearch(shape)
		for range 20 {
			degrees := size / 1e5 * math.Exp(rapid.Float64Range(-3, 3).Draw(t, "reach"))
			p := Point{
				center.Longitude + degrees*rapid.Float64Range(-2, 2).Draw(t, "dx"),
				center.Latitude + degrees*rapid.Float64Range(-1, 1).Draw(t, "dy"),
			}
			if p.Longitude > maxLongitude {
				p.Longitude -= 2 * maxLongitude
			}
			if p.Longitude < -maxLongitude {
				p.Longitude += 2 * maxLongitude
			}
			if !p.Valid() {
				continue
			}
			if score := Score(p); s.Contains(At(score)) && !s.MayContain(score) {
				t.Fatalf("%v is in %+v, and MayContain says no: window %+v", At(score), shape, s.window)
			}
		}
	})
}
