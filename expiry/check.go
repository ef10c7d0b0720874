package expiry

import "fmt"

// Check returns an error when the index contradicts itself: a thing that does
// not know its place or its deadline, or stands before an earlier one. It looks
// at everything and is for tests.
func (x *Index[T]) Check() error {
	for i, n := range x.heap {
		item := n.v.DeadlineItem()
		switch {
		case int(item.pos) != i+1:
			return fmt.Errorf("expiry: the thing at %d takes itself to be at %d", i, item.pos-1)
		case item.At() != n.at:
			return fmt.Errorf("expiry: deadline %d is filed as %d", item.At(), n.at)
		case i > 0 && x.heap[(i-1)/arity].at > n.at:
			return fmt.Errorf("expiry: %d stands above %d", x.heap[(i-1)/arity].at, n.at)
		}
	}
	return nil
}
