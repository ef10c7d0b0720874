package rdb

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/lockredis/lockredis/store"
)

type noObserver struct{}

func (noObserver) Expired(int, string)                       {}
func (noObserver) Added(int, string)                         {}
func (noObserver) Renewed(int, string)                       {}
func (noObserver) Emptying(*store.DB)                        {}
func (noObserver) Swapped(_, _ *store.DB)                    {}
func (noObserver) Lost(int, string)                          {}
func (noObserver) Missed(int, []byte)                        {}
func (noObserver) FieldsExpired(int, string, []string, bool) {}
func (noObserver) Evicted(int, string)                       {}
func (noObserver) Sooner()                                   {}

var lim = store.DefaultLimits()

// check returns an error if v is inconsistent.
func check(v store.Value) error {
	s := store.NewSpace(1, noObserver{})
	s.FieldDeadlines = true // Decode reads the hashes of Valkey, too
	s.DB(0).Set([]byte("k"), v)
	return s.Check()
}

func TestChecksumIsRedis(t *testing.T) {
	if got := checksum(0, []byte("123456789")); got != 0xe9c6d914c4b8d9ca {
		t.Errorf("checksum is %#x", got)
	}
	if got := checksum(checksum(0, []byte("1234")), []byte("56789")); got != 0xe9c6d914c4b8d9ca {
		t.Errorf("checksum of two parts is %#x", got)
	}
}

func TestCompressedStringsComeBack(t *testing.T) {
	var c compressor
	for _, s := range []string{
		strings.Repeat("a", 21), strings.Repeat("a", 300), strings.Repeat("abc", 5000),
		strings.Repeat("0123456789abcdefghijklmnopqrstuvwxyz", 1000), strings.Repeat("x", 1<<20),
	} {
		packed, ok := c.compress(nil, []byte(s), len(s)-4)
		if !ok {
			t.Fatalf("%.20q of %d bytes is not compressed", s, len(s))
		}
		got, ok := decompress(packed, uint64(len(s)))
		if !ok || string(got) != s {
			t.Errorf("%.20q of %d bytes does not come back", s, len(s))
		}
		if _, ok := decompress(packed, uint64(len(s)-1)); ok {
			t.Errorf("%.20q of %d bytes is decompressed to fewer bytes", s, len(s))
		}
		if _, ok := decompress(packed, uint64(len(s)+1)); ok {
			t.Errorf("%.20q of %d bytes is decompressed to more bytes", s, len(s))
		}
	}
}

func TestACompressorForgetsEarlierInput(t *testing.T) {
	in := []byte(strings.Repeat("some text that repeats ", 40))
	var fresh, used compressor
	want, _ := fresh.compress(nil, in, len(in))
	used.compress(nil, []byte(strings.Repeat("other text that repeats ", 90)), 1<<20)
	if got, _ := used.compress(nil, in, len(in)); !bytes.Equal(got, want) {
		t.Error("the second input is compressed differently")
	}
	used.base = math.MaxUint32 - 10
	if got, _ := used.compress(nil, in, len(in)); !bytes.Equal(got, want) {
		t.Error("the input is compressed differently when the positions start again")
	}
}

func TestLengthsComeBack(t *testing.T) {
	for _, n := range []uint64{0, 63, 64, 16383, 16384, math.MaxUint32, math.MaxUint32 + 1, math.MaxUint64} {
		d := &decoder{input: &buffer{AppendLength(nil, n)}}
		if got := d.length(); got != n || d.err != nil || d.left() != 0 {
			t.Errorf("%d comes back as %d, error %v, %d bytes left", n, got, d.err, d.left())
		}
	}
}

// TestAListpackOfManyElementsComesBack has more elements than the head counts.
func TestAListpackOfManyElementsComesBack(t *testing.T) {
	pack := newListpack(0)
	for i := range 70000 {
		pack.add(fmt.Append(nil, i))
	}
	elems, err := readListpack(pack.bytes())
	if err != nil || len(elems) != 70000 || string(elems[69999]) != "69999" {
		t.Errorf("%d elements, error %v", len(elems), err)
	}
}

func TestHugeLengthsTakeNoMemory(t *testing.T) {
	for _, payload := range []string{
		"0081ffffffffffffffff",     // a string
		"0080ffffffff",             // a string
		"00c30581ffffffffffffffff", // a compressed string
		"00c30180ffffffff00",       // a compressed string of 4 GB
		"0181ffffffffffffffff",     // a list
		"0280ffffffff0161",         // a set
		"0480ffffffff0161",         // a hash
		"0580ffffffff0161",         // a sorted set
		"0e80ffffffff00",           // nodes
		"1280ffffffff00",           // nodes
		"0b0802000000ffffffff",     // an intset
		"1007070000000000ff",       // a listpack
		"1007ffffffffffffff",       // a listpack
	} {
		b, err := hex.DecodeString(payload)
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		v, err := Decode(b, &lim)
		runtime.ReadMemStats(&after)
		if err == nil {
			t.Errorf("%s is a %s", payload, v.Type())
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 1<<20 {
			t.Errorf("%s takes %d bytes", payload, took)
		}
	}
}

func TestErrorsTellTheReason(t *testing.T) {
	for payload, want := range map[string]error{
		"":     ErrCorrupt,
		"63":   ErrCorrupt,
		"0100": ErrEmpty,
		"0200": ErrEmpty,
		"0400": ErrEmpty,
		"0500": ErrEmpty,
		"0e00": ErrEmpty,
		"1200": ErrEmpty,
		"0700": ErrUnsupported,
	} {
		b, _ := hex.DecodeString(payload)
		if _, err := Decode(b, &lim); !errors.Is(err, want) {
			t.Errorf("payload %q: %v instead of %v", payload, err, want)
		}
	}
}

// samples returns a value of each form.
func samples() []store.Value {
	list := store.NewList(&lim)
	var words, ints store.Set
	var hash, table store.Hash
	var zset, large store.ZSet
	for i := range 700 {
		n := fmt.Append(nil, i*i*i)
		name := fmt.Append(nil, "member ", i)
		list.PushBack(n)
		list.PushBack(bytes.Repeat(name, i%50))
		words.Add(name, &lim)
		table.Set(name, n, &lim)
		large.Add(name, float64(i)/7, &lim)
		if i < 60 {
			ints.Add(n, &lim)
			hash.Set(name, n, &lim)
			zset.Add(name, math.Exp(float64(i)), &lim)
		}
	}
	return []store.Value{
		store.ParseString([]byte("12345")), store.NewText([]byte("text")),
		store.NewText(bytes.Repeat([]byte("long "), 100)),
		list, &words, &ints, &hash, &table, &zset, &large,
	}
}

func TestValuesComeBack(t *testing.T) {
	for _, compress := range []bool{false, true} {
		e := &Encoder{Compress: compress}
		for _, v := range samples() {
			b := e.AppendValue(nil, v)
			got, err := Decode(b, &lim)
			if err != nil {
				t.Fatalf("%s: %v", v.Type(), err)
			}
			if err := check(got); err != nil {
				t.Errorf("%s: %v", v.Type(), err)
			}
			if got.Encoding() != v.Encoding() {
				t.Errorf("%s: encoding %s instead of %s", v.Type(), got.Encoding(), v.Encoding())
			}
			if again := e.AppendValue(nil, got); !bytes.Equal(again, b) {
				t.Errorf("%s: %.100x comes back as %.100x", v.Type(), b, again)
			}
		}
	}
}

// TestAShortenedPayloadIsNoValue cuts payloads at each byte.
func TestAShortenedPayloadIsNoValue(t *testing.T) {
	e := &Encoder{Compress: true}
	for _, v := range samples() {
		b := e.AppendValue(nil, v)
		step := 1 + len(b)/500
		for n := 0; n < len(b); n += step {
			if _, err := Decode(b[:n], &lim); err == nil {
				t.Fatalf("%s: %d of %d bytes are a value", v.Type(), n, len(b))
			}
		}
	}
}

func TestLimitsDecideAboutTheEncoding(t *testing.T) {
	small := lim
	small.HashEntries, small.ZSetEntries, small.SetIntEntries = 10, 10, 10
	e := &Encoder{}
	for _, v := range samples()[5:9] {
		got, err := Decode(e.AppendValue(nil, v), &small)
		if err != nil {
			t.Fatal(err)
		}
		if enc := got.Encoding(); enc != "hashtable" && enc != "skiplist" {
			t.Errorf("%s has encoding %s", v.Type(), enc)
		}
		if err := check(got); err != nil {
			t.Error(err)
		}
	}
}

func TestVerifyRefusesOtherVersionsAndChecksums(t *testing.T) {
	payload := (&Encoder{}).Dump(store.NewText([]byte("text")))
	if err := Verify(payload, Accepts{}); err != nil {
		t.Fatal(err)
	}
	if v, err := Restore(payload, Accepts{Valkey: true}, &lim); err != nil || string(v.(*store.String).Bytes(nil)) != "text" {
		t.Errorf("restored %v, error %v", v, err)
	}
	for i := range payload {
		wrong := bytes.Clone(payload)
		wrong[i] ^= 0x40
		if err := Verify(wrong, Accepts{}); err != ErrChecksum {
			t.Errorf("with byte %d changed: %v", i, err)
		}
		if err := Verify(payload[:i], Accepts{}); err != ErrChecksum {
			t.Errorf("with %d bytes: %v", i, err)
		}
	}
}

// FuzzDecode looks for bytes that crash Decode, or that become an inconsistent value.
func FuzzDecode(f *testing.F) {
	for _, compress := range []bool{false, true} {
		e := &Encoder{Compress: compress}
		for _, v := range samples() {
			if b := e.AppendValue(nil, v); len(b) < 3000 {
				f.Add(b)
			}
		}
	}
	for _, old := range olderForms() {
		f.Add(old)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := Decode(b, &lim)
		if err != nil {
			return
		}
		if err := check(v); err != nil {
			t.Fatal(err)
		}
		e := &Encoder{Compress: true}
		first := e.AppendValue(nil, v)
		again, err := Decode(first, &lim)
		if err != nil {
			t.Fatalf("a decoded %s does not come back: %v", v.Type(), err)
		}
		if v.Encoding() == again.Encoding() && v.Encoding() != "hashtable" {
			if second := e.AppendValue(nil, again); !bytes.Equal(first, second) {
				t.Fatalf("a decoded %s comes back as another value", v.Type())
			}
		}
	})
}

// olderForms returns values in the forms of older versions of Redis.
func olderForms() [][]byte {
	zip := func(hexadecimal string) []byte {
		b, err := hex.DecodeString(hexadecimal)
		if err != nil {
			panic(err)
		}
		return append(AppendLength(nil, uint64(len(b))), b...)
	}
	// The elements "ab", 5 (in the encoding), 300 (16 bits), -70000 (24 bits).
	four := zip("1a000000140000000400" + "00026162" + "04f6" + "02c02c01" + "04f090eefe" + "ff")
	return [][]byte{
		append([]byte{typeListZip}, four...),
		append([]byte{typeListZips, 2}, append(bytes.Clone(four), four...)...),
		append([]byte{typeHashZip}, four...),
		append([]byte{typeZSetZip}, four...),
		{typeList, 2, 1, 'a', 0xc0, 7},
		{typeZSetText, 2, 1, 'a', 254, 1, 'b', 3, '2', '.', '5'},
		{typeListPacked, 1, nodePlain, 3, 'a', 'b', 'c'},
	}
}

func TestOlderFormsAreRead(t *testing.T) {
	for i, b := range olderForms() {
		v, err := Decode(b, &lim)
		if err != nil {
			t.Errorf("form %d, type %d: %v", i, b[0], err)
			continue
		}
		if err := check(v); err != nil {
			t.Errorf("form %d: %v", i, err)
		}
	}
	v, _ := Decode(olderForms()[0], &lim)
	var elems []string
	v.(*store.List).Each(func(elem []byte) bool {
		elems = append(elems, string(elem))
		return true
	})
	if got := strings.Join(elems, " "); got != "ab 5 300 -70000" {
		t.Errorf("the ziplist has %s", got)
	}
}
