// Package geo maps points of the earth to scores of a sorted set and searches them, as
// Redis's geo commands do.
//
// A Point becomes a Cell: its longitude and its latitude are each cut into 2^26 steps, and
// the bits of both numbers alternate. The 52 bits are the score. A larger area has fewer
// steps, and its points have consecutive scores. So a search reads the scores of a few cells
// that cover its Shape, and measures the distance of each point. Redis takes the cells from
// the center of the shape outwards. An unsorted result shows that order, and the cells are
// therefore exactly Redis's.
//
// The latitude is limited to 85 degrees, as on a map of Mercator. The earth is a sphere.
//
// The package knows no keys and no replies. It is a part of the server.
package geo
