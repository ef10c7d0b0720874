package store

import "unsafe"

// shrink returns s, copied to a smaller array if s fills less than a quarter of its
// capacity.
func shrink[T any](s []T) []T {
	if cap(s) > 64 && len(s) < cap(s)/4 {
		return append(make([]T, 0, 2*len(s)), s...)
	}
	return s
}

// sampled estimates the sum of size(i) over n elements from samples of them, at equal
// distances; 0 means all elements.
func sampled(n, samples int, size func(i int) int) int64 {
	if samples <= 0 || samples > n {
		samples = n
	}
	if n == 0 {
		return 0
	}
	var sum int64
	for i := range samples {
		sum += int64(size(i * n / samples))
	}
	return sum * int64(n) / int64(samples)
}

// bytesOf returns the bytes of s, which must not be changed.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }
