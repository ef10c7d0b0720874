package vector

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/lockredis/lockredis/compat_test/wire"
)

var (
	digitRuns = regexp.MustCompile(`[0-9]+`)
	nodeIDs   = regexp.MustCompile(`\b[0-9a-f]{40}\b`)
	// debugFigures are the values in DEBUG OBJECT that differ from run to run.
	// debugTimes are the debugFigures that depend on the time and on memory.
	debugTimes   = regexp.MustCompile(`(Value at:|lru:|lru_seconds_idle:)[0-9a-fx]+`)
	debugFigures = regexp.MustCompile(`(Value at:|lru:|lru_seconds_idle:|serializedlength:|refcount:)[0-9a-fx]+`)
	sectionHeads = regexp.MustCompile(`(?m)^# \w+`)
	// luaWords matches Lua's own message in an error: the text after the script's name and
	// line.
	luaWords = regexp.MustCompile(`(user_(?:script|function):\d+: )(.*?)( script: \w+, on |$)`)
)

// render renders a reply after the directive's masks and sorting.
func (o options) render(v wire.Value) string {
	v = o.mask(v)
	switch o.sorted {
	case "all":
		v = sortElems(v, 1)
	case "pairs":
		v = sortElems(v, 2)
	case "scan":
		if len(v.Elems) == 2 {
			v.Elems = []wire.Value{v.Elems[0], sortElems(v.Elems[1], 1)}
		}
	case "scanpairs":
		if len(v.Elems) == 2 {
			v.Elems = []wire.Value{v.Elems[0], sortElems(v.Elems[1], 2)}
		}
	}
	if slices.Contains(o.masks, "first") && len(v.Elems) > 1 {
		v.Elems = v.Elems[:1]
		return v.Pretty(width) + " <and more>"
	}
	if slices.Contains(o.masks, "count") && v.IsAggregate() {
		return fmt.Sprintf("<%d elements of %c>", len(v.Elems), v.Kind)
	}
	return v.Pretty(width)
}

// mask replaces the parts of a reply that the directive masks, at all depths.
func (o options) mask(v wire.Value) wire.Value {
	if v.IsAggregate() {
		elems := make([]wire.Value, len(v.Elems))
		for i, e := range v.Elems {
			if i > 0 && slices.Contains(o.fields, string(v.Elems[i-1].Str)) {
				elems[i] = masked(e, "<masked>")
				continue
			}
			elems[i] = o.mask(e)
		}
		v.Elems = elems
		return v
	}
	if v.IsNil {
		return v
	}
	for _, m := range o.masks {
		v = maskScalar(v, m)
	}
	if v.Kind == wire.BulkString && slices.Contains(o.among, string(v.Str)) {
		return masked(v, "<among>")
	}
	for _, f := range o.fields {
		v.Str = maskField(v.Str, f)
	}
	return v
}

func masked(v wire.Value, text string) wire.Value {
	return wire.Value{Kind: v.Kind, Str: []byte(text)}
}

func maskScalar(v wire.Value, mask string) wire.Value {
	text := string(v.Str)
	switch {
	case mask == "int" && v.Kind == wire.Integer:
		return masked(v, "<int>")
	case mask == "bulk" && (v.Kind == wire.BulkString || v.Kind == wire.Verbatim):
		return masked(v, "<bulk>")
	case mask == "digits":
		return masked(v, digitRuns.ReplaceAllString(text, "<n>"))
	case mask == "ids":
		return masked(v, nodeIDs.ReplaceAllString(text, "<id>"))
	case mask == "lua" && v.IsError():
		return masked(v, luaWords.ReplaceAllString(text, "$1<lua's words>$3"))
	case mask == "text" && (v.Kind == wire.BulkString || v.Kind == wire.SimpleString):
		return masked(v, "<text>")
	case mask == "debugtime" && v.Kind == wire.SimpleString:
		return masked(v, debugTimes.ReplaceAllString(text, "$1<masked>"))
	case mask == "debug" && v.Kind == wire.SimpleString:
		return masked(v, debugFigures.ReplaceAllString(text, "$1<masked>"))
	case mask == "sections" && (v.Kind == wire.BulkString || v.Kind == wire.Verbatim):
		return masked(v, strings.Join(sectionHeads.FindAllString(text, -1), " "))
	case mask == "names" && (v.Kind == wire.BulkString || v.Kind == wire.Verbatim):
		return masked(v, fieldNames(text))
	}
	return v
}

// fieldNames returns only the names in a text of name=value words or name:value lines.
func fieldNames(text string) string {
	var names []string
	for _, f := range strings.Fields(text) {
		if i := strings.IndexAny(f, "=:"); i >= 0 {
			names = append(names, f[:i])
		}
	}
	return strings.Join(names, " ")
}

// maskField masks the value of name=value words and name:value lines.
func maskField(text []byte, name string) []byte {
	re := regexp.MustCompile(`(^|[\s])(` + regexp.QuoteMeta(name) + `[=:])[^\s]*`)
	return re.ReplaceAll(text, []byte("$1$2<masked>"))
}

// sortElems sorts the elements of a reply in groups of size by their rendering.
func sortElems(v wire.Value, size int) wire.Value {
	if v.Kind == wire.Map {
		size = 2
	}
	if !v.IsAggregate() || len(v.Elems)%size != 0 {
		return v
	}
	var groups [][]wire.Value
	for g := range slices.Chunk(v.Elems, size) {
		groups = append(groups, g)
	}
	slices.SortFunc(groups, func(a, b []wire.Value) int {
		inA, inB := wire.Value{Kind: wire.Array, Elems: a}, wire.Value{Kind: wire.Array, Elems: b}
		return strings.Compare(inA.String(), inB.String())
	})
	v.Elems = slices.Concat(groups...)
	return v
}
