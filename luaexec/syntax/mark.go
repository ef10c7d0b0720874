package syntax

// Mark is a table constructor with computed keys on several lines, or a bound of a numeric
// for. The bound is the operand of a unary minus, which stands for the conversion to a number.
type Mark struct {
	// Lines has the line of the node, and then the lines of a constructor's keyed fields.
	Lines []int
	// Bound is BoundInitial, BoundLimit or BoundStep; 0 for a constructor.
	Bound int
}

// The bounds of a numeric for.
const (
	BoundInitial = 1 + iota
	BoundLimit
	BoundStep
)
