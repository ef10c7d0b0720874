package store

import "unsafe"

// shrink gives memory back when a slice fills less than a quarter of its room.
func shrink[T any](s []T) []T {
	if cap(s) > 64 && len(s) < cap(s)/4 {
		return append(make([]T, 0, 2*len(s)), s...)
	}
	return s
}

// sampled estimates the sum of size over n elements from the first samples of
// them; 0 samples means all.
func sampled(n, samples int, size func(i int) int) int64 {
	if samples <= 0 || samples > n {
		samples = n
	}
	if n == 0 {
		return 0
	}
	var sum int64
	for i := range samples {
		sum += int64(size(i))
	}
	return sum * int64(n) / int64(samples)
}

// bytesOf returns the bytes of a string for reading only.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }
