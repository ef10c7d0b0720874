package rdb

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/lockredis/lockredis/store"
)

// Key is a key of a file.
type Key struct {
	DB       int
	Name     []byte
	Value    store.Value
	Deadline int64 // Unix ms, 0: none
	Idle     int64 // seconds since the last access, -1: unknown
	// Frequency is the counter of accesses, from 0 to 255; -1: unknown.
	Frequency int64
}

// Reader gets the keys of a file, see Load. Its functions return an error to stop.
type Reader struct {
	Limits *store.Limits
	// Key is called for each key. It keeps the value and the name.
	Key func(k Key) error
	// Function is called for the source text of each library of functions. nil means that a
	// file with functions is an error.
	Function func(code string) error
	// Fact is called for each fact about the file: redis-ver, ctime and others.
	Fact func(name, value string)
	// AnySum accepts a file with a wrong checksum.
	AnySum bool
	// Valkey accepts hashes whose fields have deadlines.
	Valkey bool
}

// chunk is how many bytes of a file are read at a time.
const chunk = 1 << 20

// stream is an input from a file.
type stream struct {
	r      *bufio.Reader
	rest   uint64 // bytes of the file that are left
	sum    uint64
	offset uint64
}

func (s *stream) left() uint64 { return s.rest }

func (s *stream) take(n int) ([]byte, error) {
	b := make([]byte, n)
	if _, err := io.ReadFull(s.r, b); err != nil {
		return nil, err
	}
	s.rest -= uint64(n)
	s.offset += uint64(n)
	s.sum = checksum(s.sum, b)
	return b, nil
}

// Load reads a file of size bytes and passes its keys to to. A file that is not complete,
// or has a wrong checksum, is an error. Empty values are left out, as in Redis.
func Load(r io.Reader, size int64, to Reader) error {
	in := &stream{r: bufio.NewReaderSize(r, chunk), rest: uint64(max(size, 0))}
	l := &loader{decoder: decoder{input: in, lim: to.Limits}, in: in, to: to, idle: -1, count: -1}
	l.noFieldDeadlines = !to.Valkey
	version, err := l.head()
	if err != nil {
		return err
	}
	for more := true; more && l.err == nil; {
		more = l.record()
	}
	if l.err == nil {
		l.err = l.foot(version)
	}
	if l.err != nil {
		return fmt.Errorf("at byte %d: %w", in.offset, l.err)
	}
	return nil
}

// loader reads the records of a file.
type loader struct {
	decoder
	in *stream
	to Reader

	db                    int
	deadline, idle, count int64 // of the next key
	newer                 bool  // than Redis 7.0: Redis 7.2 or Valkey
}

var errSignature = errors.New("wrong signature: this is no RDB file")

// head reads the name of the format and returns its version.
func (l *loader) head() (version int, err error) {
	if l.in.left() < 9 {
		return 0, errSignature
	}
	b := l.bytes(9)
	if l.err != nil {
		return 0, l.err
	}
	digits, valkey := strings.CutPrefix(string(b), valkeySignature)
	most := valkeyVersion
	if !valkey {
		var redis bool
		if digits, redis = strings.CutPrefix(string(b), redisSignature); !redis {
			return 0, errSignature
		}
		most = newestVersion
	}
	version, err = strconv.Atoi(digits)
	if err != nil || version < 1 || version > most {
		return 0, fmt.Errorf("RDB version %q is not supported: files of Redis are read up to version %d "+
			"(Redis 7.2, Valkey 8), those of Valkey up to %d (Valkey 9)", digits, newestVersion, valkeyVersion)
	}
	l.newer = valkey || version > Version
	return version, nil
}

// foot compares the checksum, which files have since version 5. 0 means none.
func (l *loader) foot(version int) error {
	if version < 5 {
		return nil
	}
	sum := l.in.sum
	b := l.bytes(8)
	if l.err != nil {
		return l.err
	}
	if want := binary.LittleEndian.Uint64(b); want != 0 && want != sum && !l.to.AnySum {
		return corrupt("the file has checksum %016x, its data has %016x", want, sum)
	}
	return nil
}

// record reads a record. It returns false after the last one.
func (l *loader) record() (more bool) {
	switch kind := l.byte(); kind {
	case recordEnd:
		return false
	case recordDatabase:
		if n := l.length(); n <= math.MaxInt32 {
			l.db = int(n)
		} else {
			l.fail(corrupt("database %d", n))
		}
	case recordSize:
		l.length()
		l.length()
	case recordSlot:
		l.length()
		l.length()
		l.length()
	case recordDeadline:
		if b := l.bytes(8); b != nil {
			l.setDeadline(int64(binary.LittleEndian.Uint64(b)))
		}
	case recordSeconds:
		if b := l.bytes(4); b != nil {
			l.setDeadline(1000 * int64(int32(binary.LittleEndian.Uint32(b))))
		}
	case recordIdle:
		idle := l.length()
		if idle == math.MaxUint64 { // Redis takes it for an error of reading
			l.fail(corrupt("idle time of %d", idle))
		}
		l.idle = int64(min(idle, math.MaxInt32))
	case recordFrequency:
		l.count = int64(l.byte())
	case recordFact:
		name, value := string(l.string()), string(l.string())
		if l.err == nil && l.to.Fact != nil {
			l.to.Fact(name, value)
		}
	case recordFunction, recordOldFunction:
		l.readLibrary(kind)
	case recordModule:
		l.fail(unsupported("data of a module"))
	default:
		l.key(kind)
	}
	return true
}

// setDeadline sets the deadline of the next key. In a file -1 means none, and 0 is the beginning
// of 1970.
func (l *loader) setDeadline(millis int64) {
	switch millis {
	case -1:
		l.deadline = 0
	case 0:
		l.deadline = 1
	default:
		l.deadline = millis
	}
}

// readLibrary reads a library of functions.
func (l *loader) readLibrary(kind byte) {
	code := l.function(kind)
	switch {
	case l.err != nil:
	case l.to.Function == nil:
		l.fail(unsupported("a library of functions"))
	default:
		if err := l.to.Function(code); err != nil {
			l.fail(err)
		}
	}
}

// key reads a key with its value.
func (l *loader) key(kind byte) {
	k := Key{DB: l.db, Name: l.string(), Deadline: l.deadline, Idle: l.idle, Frequency: l.count}
	l.deadline, l.idle, l.count = 0, -1, -1
	if l.err != nil {
		return
	}
	if !known(kind, l.newer) {
		l.fail(corrupt("type %d", kind))
	}
	k.Value = l.value(kind)
	if errors.Is(l.err, ErrEmpty) {
		l.err = nil
		return
	}
	if l.err != nil {
		l.err = fmt.Errorf("key %s: %w", quoted(k.Name), l.err)
		return
	}
	if err := l.to.Key(k); err != nil {
		l.fail(fmt.Errorf("key %s: %w", quoted(k.Name), err))
	}
}

// quoted returns the beginning of a name, quoted.
func quoted(name []byte) string {
	const most = 60
	if len(name) > most {
		return strings.TrimSuffix(strconv.Quote(string(name[:most])), `"`) + `…"`
	}
	return strconv.Quote(string(name))
}
