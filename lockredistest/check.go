package lockredistest

import (
	"fmt"
	"reflect"
	"slices"
)

// CheckGet fails t unless key holds the string want.
func (k *Keyspace) CheckGet(t TB, key, want string) {
	t.Helper()
	got, err := k.Get(key)
	report(t, "string", key, got, want, err)
}

// CheckList fails t unless key holds a list of exactly these values in this order.
func (k *Keyspace) CheckList(t TB, key string, want ...string) {
	t.Helper()
	got, err := k.List(key)
	report(t, "list", key, got, want, err)
}

// CheckSet fails t unless key holds a set of exactly these members.
func (k *Keyspace) CheckSet(t TB, key string, want ...string) {
	t.Helper()
	want = slices.Compact(slices.Sorted(slices.Values(want)))
	got, err := k.SMembers(key)
	report(t, "set", key, got, want, err)
}

// CheckHash fails t unless key holds a hash of exactly these fields and values. Fields and
// values alternate, as in HSet. An odd number of them fails t.
func (k *Keyspace) CheckHash(t TB, key string, fieldsAndValues ...string) {
	t.Helper()
	if len(fieldsAndValues)%2 != 0 {
		t.Errorf("check hash %q: the last field %q has no value", key,
			fieldsAndValues[len(fieldsAndValues)-1])
		return
	}
	want := map[string]string{}
	for i := 0; i < len(fieldsAndValues); i += 2 {
		want[fieldsAndValues[i]] = fieldsAndValues[i+1]
	}
	got, err := k.HGetAll(key)
	report(t, "hash", key, got, want, err)
}

// CheckSortedSet fails t unless key holds a sorted set of exactly these members and scores.
func (k *Keyspace) CheckSortedSet(t TB, key string, want map[string]float64) {
	t.Helper()
	got, err := k.SortedSet(key)
	report(t, "sorted set", key, got, want, err)
}

// CheckMissing fails t for each of the keys that exists.
func (k *Keyspace) CheckMissing(t TB, keys ...string) {
	t.Helper()
	for _, key := range keys {
		if kind := k.Type(key); kind != "" {
			t.Errorf("key %q: exists and holds a %s, want no key", key, kind)
		}
	}
}

// report fails t unless err is nil and got equals want. what is the kind of value.
func report(t TB, what, key string, got, want any, err error) {
	t.Helper()
	switch {
	case err != nil:
		t.Errorf("%s %q: %v, want %s", what, key, err, quoted(want))
	case !reflect.DeepEqual(got, want):
		t.Errorf("%s %q: holds %s, want %s", what, key, quoted(got), quoted(want))
	}
}

// quoted returns a value with its texts in quotes.
func quoted(v any) string {
	if scores, ok := v.(map[string]float64); ok {
		return fmt.Sprint(scores)
	}
	return fmt.Sprintf("%q", v)
}
