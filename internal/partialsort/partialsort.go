// Package partialsort sorts as Redis does for SORT's LIMIT and GEOSEARCH's COUNT: a quicksort that
// skips the partitions outside of the requested range. It is not stable, and clients see the
// order of equal elements (ALPHA BY with equal sort keys). Therefore it takes the same steps as
// Redis: the quicksort of Bentley and McIlroy (Software: Practice and Experience, 1993).
package partialsort

// Sort orders items so far that [from, to) is as in the whole order.
func Sort[T any](items []T, from, to int, compare func(a, b T) int) {
	p := sorter[T]{items: items, from: from, to: to - 1, compare: compare}
	p.sort(0, len(items))
}

// sorter is one run of Sort.
type sorter[T any] struct {
	items    []T
	from, to int // the requested range, inclusive
	compare  func(a, b T) int
}

// sort sorts the n items from index a.
func (p *sorter[T]) sort(a, n int) {
	for n >= 7 {
		low, high := p.split(a, n)
		if low > 1 && p.wanted(a, low) {
			p.sort(a, low)
		}
		a, n = a+n-high, high
		if n <= 1 || !p.wanted(a, n) {
			return
		}
	}
	p.insertionSort(a, n)
}

// wanted reports whether the n items from index a overlap the requested range.
func (p *sorter[T]) wanted(a, n int) bool { return p.from < a+n && p.to >= a }

func (p *sorter[T]) insertionSort(a, n int) {
	for i := a + 1; i < a+n; i++ {
		for j := i; j > a && p.cmp(j-1, j) > 0; j-- {
			p.swap(j, j-1)
		}
	}
}

// split moves items less than the pivot to the front and greater items to the back, and
// returns the number of each. Items equal to the pivot are first collected at both ends and
// then moved to the middle.
func (p *sorter[T]) split(a, n int) (low, high int) {
	p.swap(a, p.pivot(a, n))
	equalLow, i := a+1, a+1
	equalHigh, j := a+n-1, a+n-1
	for {
		for ; i <= j; i++ {
			r := p.cmp(i, a)
			if r > 0 {
				break
			}
			if r == 0 {
				p.swap(equalLow, i)
				equalLow++
			}
		}
		for ; i <= j; j-- {
			r := p.cmp(j, a)
			if r < 0 {
				break
			}
			if r == 0 {
				p.swap(j, equalHigh)
				equalHigh--
			}
		}
		if i > j {
			break
		}
		p.swap(i, j)
		i++
		j--
	}
	low, high = i-equalLow, equalHigh-j
	p.swapRange(a, i-min(equalLow-a, low), min(equalLow-a, low))
	tail := min(high, a+n-1-equalHigh)
	p.swapRange(i, a+n-tail, tail)
	return low, high
}

// pivot returns the index of the pivot: the middle item of up to 7 items, the median of three
// for up to 40, and the median of three medians of three for more.
func (p *sorter[T]) pivot(a, n int) int {
	middle := a + n/2
	if n <= 7 {
		return middle
	}
	first, last := a, a+n-1
	if n > 40 {
		d := n / 8
		first = p.median(first, first+d, first+2*d)
		middle = p.median(middle-d, middle, middle+d)
		last = p.median(last-2*d, last-d, last)
	}
	return p.median(first, middle, last)
}

// median returns the index of the median of the items at a, b and c.
func (p *sorter[T]) median(a, b, c int) int {
	if p.cmp(a, b) < 0 {
		switch {
		case p.cmp(b, c) < 0:
			return b
		case p.cmp(a, c) < 0:
			return c
		}
		return a
	}
	switch {
	case p.cmp(b, c) > 0:
		return b
	case p.cmp(a, c) < 0:
		return a
	}
	return c
}

func (p *sorter[T]) cmp(i, j int) int { return p.compare(p.items[i], p.items[j]) }

func (p *sorter[T]) swap(i, j int) { p.items[i], p.items[j] = p.items[j], p.items[i] }

// swapRange swaps the n items from index i with the n items from index j.
func (p *sorter[T]) swapRange(i, j, n int) {
	for k := range n {
		p.swap(i+k, j+k)
	}
}
