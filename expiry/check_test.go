package expiry

import "testing"

type holder struct{ item Item }

func (h *holder) DeadlineItem() *Item { return &h.item }

func TestCheckFindsEveryInconsistency(t *testing.T) {
	for name, spoil := range map[string]func(*Index[*holder]){
		"an item without its deadline": func(x *Index[*holder]) { *x.heap[3].v.DeadlineItem() = Item{} },
		"a heap out of order": func(x *Index[*holder]) {
			x.heap[0].at = 1000
		},
	} {
		t.Run(name, func(t *testing.T) {
			var x Index[*holder]
			for i := range 20 {
				x.Add(&holder{}, int64(100-i))
			}
			if err := x.Check(); err != nil {
				t.Fatal(err)
			}
			spoil(&x)
			if x.Check() == nil {
				t.Fatal("Check found nothing")
			}
		})
	}
}
