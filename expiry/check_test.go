package expiry

import "testing"

type thing struct{ item Item }

func (t *thing) DeadlineItem() *Item { return &t.item }

func TestCheckFindsWhatContradictsItself(t *testing.T) {
	for name, spoil := range map[string]func(*Index[*thing]){
		"a forgotten deadline":   func(x *Index[*thing]) { *x.heap[3].v.DeadlineItem() = Item{} },
		"a deadline moved alone": func(x *Index[*thing]) { x.heap[2].v.DeadlineItem().put(5) },
		"a heap out of order": func(x *Index[*thing]) {
			x.heap[0].at = 1000
			x.heap[0].v.DeadlineItem().put(1000)
		},
	} {
		t.Run(name, func(t *testing.T) {
			var x Index[*thing]
			for i := range 20 {
				x.Add(&thing{}, int64(100-i))
			}
			if err := x.Check(); err != nil {
				t.Fatal(err)
			}
			spoil(&x)
			if x.Check() == nil {
				t.Fatal("not found")
			}
		})
	}
}
