package rdb

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"runtime"
	"testing"
)

// file returns a file of an RDB version with these records, without a checksum.
func file(version int, records ...[]byte) []byte {
	b := fmt.Appendf(nil, "REDIS%04d", version)
	for _, record := range records {
		b = append(b, record...)
	}
	b = append(b, recordEnd)
	if version >= 5 {
		b = append(b, make([]byte, 8)...)
	}
	return b
}

// keyed returns the record of a key whose value is type and body.
func keyed(name string, value []byte) []byte {
	b := append([]byte{value[0], byte(len(name))}, name...)
	return append(b, value[1:]...)
}

// fileSeeds returns files as several versions of Redis write them, and broken ones.
func fileSeeds() [][]byte {
	var old []byte
	for i, form := range olderForms() {
		old = append(old, keyed(fmt.Sprint("k", i), form)...)
	}
	seconds := append([]byte{recordSeconds, 0, 0, 0, 0x7f}, keyed("s", []byte{typeString, 1, 'v'})...)
	seeds := [][]byte{
		file(1, []byte{recordDatabase, 0}, keyed("a", []byte{typeString, 0xc0, 7}), seconds),
		file(3, []byte{recordDatabase, 0}, old),
		file(6, []byte{recordDatabase, 3}, old, seconds),
		file(9, []byte{recordIdle, 5}, keyed("i", []byte{typeString, 1, 'v'}),
			[]byte{recordFrequency, 9}, keyed("f", []byte{typeString, 1, 'v'})),
		file(10, []byte{recordOldFunction, 1, 'n', 3, 'L', 'U', 'A', 0, 1, 'x'}),
		file(10, []byte{recordModule, 1, 2, 3}),
		file(10, AppendLength([]byte{recordDatabase}, 1<<40)),
		file(11), {}, []byte("REDIS"), []byte("REDIS00-1"), []byte("REDIS0010"),
	}
	for _, compress := range []bool{false, true} {
		e := &Encoder{Compress: compress}
		b := e.AppendHead(nil, Facts{Server: "7.0.15", Unix: 1, Memory: 2})
		b = e.AppendFunctions(b, []string{"#!lua name=lib\nredis.register_function('f', function() end)"})
		b = AppendSize(AppendDatabase(b, 2), 9, 1)
		for i, v := range samples() {
			if one := e.AppendValue(nil, v); len(one) < 1000 {
				b = e.AppendKey(b, fmt.Sprint("k", i), v, int64(i%2)*1e15)
			}
		}
		seeds = append(seeds, binary.LittleEndian.AppendUint64(append(b, recordEnd), checksum(0, append(b, recordEnd))))
	}
	return seeds
}

// loadAll loads a file and returns its keys, written again as records.
func loadAll(b []byte) (again []byte, keys int, err error) {
	e := &Encoder{Compress: true}
	err = Load(bytes.NewReader(b), int64(len(b)), Reader{
		Limits: &lim, AnySum: true,
		Key: func(k Key) error {
			keys++
			if err := check(k.Value); err != nil {
				panic(err)
			}
			again = AppendDatabase(again, k.DB)
			again = e.AppendKey(again, string(k.Name), k.Value, k.Deadline)
			return nil
		},
		Function: func(string) error { return nil },
		Fact:     func(_, _ string) {},
	})
	return again, keys, err
}

func TestFilesOfOlderVersionsAreLoaded(t *testing.T) {
	for i, want := range []int{2, len(olderForms()), len(olderForms()) + 1, 2, 0} {
		if _, keys, err := loadAll(fileSeeds()[i]); err != nil || keys != want {
			t.Errorf("file %d: %d keys, want %d, error %v", i, keys, want, err)
		}
	}
}

// FuzzLoad looks for files that crash Load, that make it allocate far more than their size,
// or that become inconsistent values. A file that is read must come back when it is written.
func FuzzLoad(f *testing.F) {
	for _, seed := range fileSeeds() {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		again, keys, err := loadAll(b)
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > 32<<20+uint64(len(b))*8000 {
			t.Fatalf("a file of %d bytes takes %d bytes", len(b), took)
		}
		if err != nil {
			return
		}
		_, same, err := loadAll(file(Version, again))
		if err != nil || same != keys {
			t.Fatalf("%d keys come back as %d: %v", keys, same, err)
		}
	})
}

func TestDeadlinesAtTheEdgesAreReadAsInRedis(t *testing.T) {
	value := keyed("k", []byte{typeString, 1, 'v'})
	millis := func(n int64) []byte { return binary.LittleEndian.AppendUint64([]byte{recordDeadline}, uint64(n)) }
	for _, test := range []struct {
		record []byte
		want   int64 // 0: none
	}{
		{millis(-1), 0}, {millis(0), 1}, {millis(-2), -2}, {millis(5), 5},
		{[]byte{recordSeconds, 0, 0, 0, 0}, 1}, {[]byte{recordSeconds, 255, 255, 255, 255}, -1000},
	} {
		b := file(10, test.record, value)
		got := int64(-1)
		err := Load(bytes.NewReader(b), int64(len(b)), Reader{
			Limits: &lim, Key: func(k Key) error { got = k.Deadline; return nil },
		})
		if err != nil || got != test.want {
			t.Errorf("record %x: deadline %d, want %d, error %v", test.record, got, test.want, err)
		}
	}
}

func TestFilesThatRedisRefusesAreRefused(t *testing.T) {
	most := append([]byte{recordIdle, 0x81}, bytes.Repeat([]byte{255}, 8)...)
	for _, b := range [][]byte{
		file(10, most, keyed("k", []byte{typeString, 1, 'v'})),
		file(10, keyed("k", []byte{typeSetInts, 8, 2, 0, 0, 0, 0, 0, 0, 0})), // of no integers
	} {
		if _, keys, err := loadAll(b); err == nil {
			t.Errorf("%x: %d keys are loaded", b, keys)
		}
	}
}
