package server

import "testing"

func TestAFreeNumberIsGivenAgain(t *testing.T) {
	var n numbers
	for i := range 3 {
		if got := n.take(); got != firstNumber+i {
			t.Fatalf("number %d, want %d", got, firstNumber+i)
		}
	}
	n.free(firstNumber + 2)
	n.free(firstNumber)
	for _, want := range []int{firstNumber, firstNumber + 2, firstNumber + 3} {
		if got := n.take(); got != want {
			t.Errorf("number %d, want %d", got, want)
		}
	}
}
