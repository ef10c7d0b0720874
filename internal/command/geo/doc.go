// Package geo holds the GEO commands. Places are members of a sorted set, so it adds and reads them
// with package zset. The geometry is in internal/geo.
package geo
