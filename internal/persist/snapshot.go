package persist

import (
	"bytes"
	"fmt"

	"github.com/lockredis/lockredis/internal/rdb"
)

// Snapshot is the content of an RDB file, in memory: for a test kit.
type Snapshot struct {
	keys []rdb.Key
	// Libraries are the source texts of the libraries of functions.
	Libraries []string
}

// Decode reads an RDB file that is in memory. Keys whose deadlines are over are left out. The error is
// that of Load for such a file. No data changes. The snapshot is for one call of Fill.
func (s *Files) Decode(file []byte) (*Snapshot, error) {
	type name struct {
		db  int
		key string
	}
	read, names := &Snapshot{}, map[name]struct{}{}
	to := s.reader()
	to.Function = func(code string) error {
		read.Libraries = append(read.Libraries, code)
		return nil
	}
	to.Key = func(k rdb.Key) error {
		at := name{k.DB, string(k.Name)}
		if _, twice := names[at]; twice {
			return errKeyTwice
		}
		names[at] = struct{}{}
		if err := s.requireDatabase(k); err != nil {
			return err
		}
		if k.Deadline == 0 || k.Deadline > s.env.Space.Now() {
			read.keys = append(read.keys, k)
		}
		return nil
	}
	if err := rdb.Load(bytes.NewReader(file), int64(len(file)), to); err != nil {
		return nil, fmt.Errorf("RDB file: %w", err)
	}
	return read, nil
}

// Fill adds the keys of a snapshot to databases without keys. Unlike Load, it tells of each key as of
// one that a command has made, so it serves parked clients.
func (s *Files) Fill(from *Snapshot) {
	for _, k := range from.keys {
		db := s.env.Space.DB(k.DB)
		s.place(db.Set(k.Name, k.Value), db, k)
	}
}
