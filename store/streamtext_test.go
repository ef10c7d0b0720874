package store

import (
	"slices"
	"testing"
)

func TestTextsOfAStreamKeepTheirBytes(t *testing.T) {
	texts := []string{
		"", "0", "-0", "00", "007", "+1", "-", " 1", "1 ", "1.0", "-1", "9", "-9", "1e3", "0x1",
		"127", "128", "-128", "-129", "255", "256", "32767", "32768", "-32768", "-32769",
		"8388607", "8388608", "-8388608", "-8388609", "2147483647", "2147483648", "-2147483648",
		"-2147483649", "549755813887", "549755813888", "140737488355328", "36028797018963968",
		"9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809",
		"99999999999999999999", "\x00", "\xff", "name",
	}
	lim, s := DefaultLimits(), &Stream{}
	for i, name := range texts {
		fields := [][]byte{[]byte(name)}
		for _, value := range texts {
			fields = append(fields, []byte(value), []byte(value))
		}
		if !s.Append(StreamID{1, uint64(i) + 1}, append(fields, []byte(name)), &lim) {
			t.Fatal("an entry is too large")
		}
	}
	if err := s.check(); err != nil {
		t.Fatal(err)
	}
	s.Range(StreamID{}, MaxStreamID, false, func(e StreamEntry) bool {
		var got []string
		e.Fields(func(name, value StreamText) {
			got = append(got, string(name.Append(nil)), string(value.Append(nil)))
		})
		want := []string{texts[e.ID.Seq-1]}
		for _, value := range texts {
			want = append(want, value, value)
		}
		if want = append(want, want[0]); !slices.Equal(got, want) {
			t.Errorf("%v: %q, want %q", e.ID, got, want)
		}
		return true
	})
}

// Entries with the master fields have no names of their own.
func TestNumbersAndTextsCanBeMasterFields(t *testing.T) {
	for _, names := range [][2]string{{"12", "12"}, {"12", "012"}, {"f", "f"}, {"-0", "0"}, {"", "0"}} {
		lim, s := DefaultLimits(), &Stream{}
		for i, name := range names {
			s.Append(StreamID{1, uint64(i) + 1}, [][]byte{[]byte(name), []byte("v")}, &lim)
		}
		s.EachNode(func(n StreamNode) {
			n.Each(func(e StreamEntry, same, _ bool) {
				if want := e.ID.Seq == 1 || names[0] == names[1]; same != want {
					t.Errorf("%q: entry %v has the master fields: %v", names, e.ID, same)
				}
			})
		})
	}
}

// An integer takes at most the bytes of its digits.
func TestNumbersTakeFewBytes(t *testing.T) {
	for text, most := range map[string]int{
		"0": 2, "-7": 2, "99": 2, "-128": 2, "1000": 3, "123456": 4, "1234567890": 6,
		"1700000000000": 7, "-9223372036854775808": 9,
	} {
		if data, _ := appendText(nil, []byte(text)); len(data) > most {
			t.Errorf("%s takes %d bytes", text, len(data))
		}
	}
}
