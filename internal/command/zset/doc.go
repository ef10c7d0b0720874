// Package zset holds the commands of sorted sets.
package zset
