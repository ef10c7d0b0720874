package history

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// model is a sequential specification: the initial state, and the states that an
// operation may lead to. No state means that the operation cannot have happened.
type model[S any] struct {
	init  S
	step  func(S, *op) []S
	equal func(S, S) bool
	keys  bool // operations on different keys are independent
}

// checker is a model without its type parameter.
type checker interface {
	check(ops []*op, limit time.Duration) (porcupine.CheckResult, string)
}

// patience is how long porcupine may search for an order. With many unknown outcomes
// the search may take practically for ever; more than a minute decides hardly more
// histories. With real time there are fewer programs and more unknown outcomes.
func (s setting) patience() time.Duration {
	if s.addr != "" {
		return 3 * time.Second
	}
	return 300 * time.Millisecond
}

// check searches for an order that the model allows. If there is none, it returns the
// longest order found, up to the operations that do not fit.
func (m model[S]) check(ops []*op, limit time.Duration) (porcupine.CheckResult, string) {
	p := m.porcupine()
	for _, part := range m.parts(ops) {
		result, info := porcupine.CheckOperationsVerbose(p, operations(part), limit)
		if result != porcupine.Ok {
			return result, explain(part, info)
		}
	}
	return porcupine.Ok, ""
}

// parts splits a history by key.
func (m model[S]) parts(ops []*op) [][]*op {
	if !m.keys {
		return [][]*op{ops}
	}
	byKey := map[string][]*op{}
	for _, o := range ops {
		byKey[o.Key] = append(byKey[o.Key], o)
	}
	var parts [][]*op
	for _, part := range byKey {
		parts = append(parts, part)
	}
	return parts
}

func (m model[S]) porcupine() porcupine.Model {
	n := porcupine.NondeterministicModel{
		Init: func() []any { return []any{m.init} },
		Step: func(state, input, _ any) []any {
			var next []any
			for _, s := range m.step(state.(S), input.(*op)) {
				next = append(next, s)
			}
			return next
		},
	}
	if m.equal != nil {
		n.Equal = func(a, b any) bool { return m.equal(a.(S), b.(S)) }
	}
	return n.ToModel()
}

func operations(ops []*op) []porcupine.Operation {
	list := make([]porcupine.Operation, len(ops))
	for i, o := range ops {
		list[i] = porcupine.Operation{ClientId: o.Owner, Input: o, Call: int64(o.Call),
			Return: int64(o.Return)}
	}
	return list
}

// explain prints the longest order found, and the operations that are not in it.
func explain(ops []*op, info porcupine.LinearizationInfo) string {
	var longest []porcupine.Operation
	for _, orders := range info.PartialLinearizationsOperations() {
		for _, order := range orders {
			if len(order) > len(longest) {
				longest = order
			}
		}
	}
	var b strings.Builder
	b.WriteString("the longest order that fits:\n")
	in := map[int]bool{}
	for _, x := range longest {
		o := x.Input.(*op)
		in[o.ID] = true
		fmt.Fprintf(&b, "  %v .. %v  %v\n", o.Call, o.Return, o)
	}
	b.WriteString("what does not fit, or came later:\n")
	rest := slices.DeleteFunc(slices.Clone(ops), func(o *op) bool { return in[o.ID] })
	slices.SortFunc(rest, func(a, b *op) int { return cmp.Compare(a.Call, b.Call) })
	for _, o := range rest[:min(len(rest), 12)] {
		fmt.Fprintf(&b, "  %v .. %v  %v\n", o.Call, o.Return, o)
	}
	return b.String()
}

// verdict runs one program and checks its history.
func verdict(t *testing.T, s setting, k kind, p program) (porcupine.CheckResult, string) {
	w := s.run(t, k, p)
	if w.rec.owners >= 64 {
		return porcupine.Unknown, "more owners than a model's bits"
	}
	return k.model.check(w.rec.ops, s.patience())
}
