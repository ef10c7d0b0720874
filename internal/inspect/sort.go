package inspect

import "slices"

// sortByRef sorts list by compare, through references to its elements. Locks, holders and
// permits are large: slices.SortFunc on them moves more bytes, and compiles to 70 KB of the
// executable, because each type gets a sort of its own. References of all types share one.
func sortByRef[T any](list []T, compare func(a, b *T) int) {
	sorted := slices.Clone(list)
	refs := make([]*T, len(sorted))
	for i := range sorted {
		refs[i] = &sorted[i]
	}
	slices.SortFunc(refs, compare)
	for i, ref := range refs {
		list[i] = *ref
	}
}
