package expiry

import "fmt"

// Check returns an error when the index is inconsistent: an item records a wrong
// heap position, or its parent in the heap has a later deadline. It visits every item and is for tests.
func (x *Index[T]) Check() error {
	for i, n := range x.heap {
		item := n.v.DeadlineItem()
		switch {
		case int(item.pos) != i+1:
			return fmt.Errorf("expiry: item at heap position %d records position %d", i, item.pos-1)
		case i > 0 && x.heap[(i-1)/arity].at > n.at:
			return fmt.Errorf("expiry: deadline %d is the parent of the earlier deadline %d",
				x.heap[(i-1)/arity].at, n.at)
		}
	}
	return nil
}
