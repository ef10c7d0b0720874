package rdb

import (
	"errors"
	"iter"
)

// The payload of FUNCTION DUMP has the records of libraries that a file has, too: a byte and
// the source text.

// ErrNoFunction is the error for a payload that has something else than a library.
var ErrNoFunction = errors.New("no library of functions")

// FunctionError is the error for a library that ends early or is malformed.
type FunctionError struct{ Part string }

func (e *FunctionError) Error() string { return "load " + e.Part + ": " + ErrCorrupt.Error() }

func (e *FunctionError) Unwrap() error { return ErrCorrupt }

// DumpFunctions returns the payload of FUNCTION DUMP for the source texts of libraries.
func (e *Encoder) DumpFunctions(codes []string) []byte {
	return e.withFoot(e.AppendFunctions(nil, codes))
}

// AppendFunctions appends libraries to the beginning of a file.
func (e *Encoder) AppendFunctions(dst []byte, codes []string) []byte {
	for _, code := range codes {
		dst = e.AppendString(append(dst, recordFunction), []byte(code))
	}
	return dst
}

// Functions returns the source texts in a payload that Verify has accepted. An error is the
// last element.
func Functions(payload []byte) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		d := &decoder{input: &buffer{payload[:len(payload)-dumpFoot]}}
		for d.left() > 0 {
			code := d.function(d.byte())
			if !yield(code, d.err) || d.err != nil {
				return
			}
		}
	}
}

// function reads the rest of a record: the source text. A release candidate of Redis 7.0
// wrote the name, the engine and a description apart from the text. The text then gets the
// first line that libraries have in Redis 7.0.
func (d *decoder) function(kind byte) string {
	switch kind {
	case recordFunction:
		return d.part("library payload")
	case recordOldFunction:
		name, engine := d.part("library name"), d.part("engine name")
		if d.left() > 0 {
			if described, _ := d.head(); described != 0 {
				d.part("library description")
			}
		}
		if d.err != nil && !errors.As(d.err, new(*FunctionError)) {
			d.err = &FunctionError{"library blob"}
		}
		return "#!" + engine + " name=" + name + "\n" + d.part("library blob")
	}
	d.fail(ErrNoFunction)
	return ""
}

// part reads a string of a library. name is its name in Redis's error.
func (d *decoder) part(name string) string {
	if d.err != nil {
		return ""
	}
	text := string(d.string())
	if d.err != nil {
		d.err = &FunctionError{name}
	}
	return text
}
