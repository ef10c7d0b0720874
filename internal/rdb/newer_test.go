package rdb

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/lockredis/lockredis/store"
)

// loadNames loads a file and returns the names and encodings of its keys.
func loadNames(b []byte, valkey bool) (names string, err error) {
	var all []string
	err = Load(bytes.NewReader(b), int64(len(b)), Reader{
		Limits: &lim, Valkey: valkey,
		Key: func(k Key) error {
			all = append(all, string(k.Name)+"="+k.Value.Encoding())
			return check(k.Value)
		},
	})
	return strings.Join(all, " "), err
}

// The files were written by Valkey 9.1.2.
func TestFilesOfNewerServersAreLoadedUnlessFieldsHaveDeadlines(t *testing.T) {
	read := func(name string) []byte {
		b, err := os.ReadFile("testdata/files/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	plain, deadlines := read("valkey-9.rdb"), read("valkey-9-deadlines.rdb")
	for _, valkey := range []bool{false, true} {
		names, err := loadNames(plain, valkey)
		if err != nil || len(strings.Fields(names)) != 8 || !strings.Contains(names, "t=hashtable") {
			t.Errorf("Valkey %v: keys %s, error %v", valkey, names, err)
		}
	}
	if names, err := loadNames(deadlines, true); err != nil || names != "h=hashtable" {
		t.Errorf("keys %s, error %v", names, err)
	}
	_, err := loadNames(deadlines, false)
	if !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), "emulate valkey-9.1") {
		t.Errorf("a hash with deadlines of fields: %v", err)
	}
	redis72 := file(11, []byte{recordSlot, 1, 1, 0}, keyed("t", append([]byte{typeSetPacked}, packed("a", "b")...)))
	if names, err := loadNames(redis72, false); err != nil || names != "t=hashtable" {
		t.Errorf("Redis 7.2: keys %s, error %v", names, err)
	}
	for _, b := range [][]byte{
		file(12), []byte("VALKEY081\xff"), file(10, keyed("t", append([]byte{typeSetPacked}, packed("a")...))),
	} {
		if names, err := loadNames(b, false); err == nil {
			t.Errorf("%q is loaded: %s", b, names)
		}
	}
}

// packed returns a listpack of texts as a string of a file.
func packed(elems ...string) []byte {
	pack := newListpack(0)
	for _, elem := range elems {
		pack.add([]byte(elem))
	}
	b := pack.bytes()
	return append(AppendLength(nil, uint64(len(b))), b...)
}

func TestZipmapsAreRead(t *testing.T) {
	long := strings.Repeat("x", 300)
	for _, test := range []struct{ zipmap, want string }{
		{"\x01\x01f\x01\x00v\xff", "f v"},
		{"\x02\x01f\x01\x02v..\x01g\x00\x00\xff", "f v g "},
		{"\xfe\x01f\xfe\x2c\x01\x00\x00\x00" + long + "\xff", "f " + long},
		{"\x00\xff", ""}, {"\xff", ""}, {"", ""},
		{"\x02\x01f\x01\x00v\xff", ""},               // two fields announced
		{"\x01\x01f\x02\x00v\xff", ""},               // reaches into the end
		{"\x01\x01f\x01\x05v\xff", ""},               // unused bytes beyond the end
		{"\x01\x01f\xff", ""},                        // no value
		{"\x02\x01f\x01\x00v\x01f\x01\x00w\xff", ""}, // a field twice
		{"\x01\xfe\xff\xff\xff\xffv\xff", ""},
	} {
		b := append(AppendLength([]byte{typeHashZipmap}, uint64(len(test.zipmap))), test.zipmap...)
		v, err := Decode(b, &lim)
		if test.want == "" {
			if !errors.Is(err, ErrCorrupt) {
				t.Errorf("%.40q: %v", test.zipmap, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%.40q: %v", test.zipmap, err)
			continue
		}
		var got []string
		v.(*store.Hash).Each(func(f, v []byte) bool {
			got = append(got, string(f), string(v))
			return true
		})
		if strings.Join(got, " ") != test.want {
			t.Errorf("%.40q: %.60q", test.zipmap, got)
		}
	}
}
