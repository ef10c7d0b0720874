package replication

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/persist"
)

// fullSync gets all data, as they were at an offset of a stream. They are read beside the present data,
// which stay until the whole file is there and is known to be good.
func (l *link) fullSync(ctx context.Context, id string, offset int64) error {
	err := l.inside(func() error {
		r, f := l.r, l.following
		f.phase = syncing
		if r.env.Config.Replication.SwapDB {
			f.begin(command.LoadAlone, r.env.Space.Now())
			if f.known && id == r.currentID() {
				f.load = command.LoadAside
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	l.r.log.Info(fmt.Sprintf("Full resync from master: %s:%d", id, offset))
	file, err := l.file()
	if err != nil {
		return err
	}
	defer l.breathe()()
	in := &slowly{l: l, ctx: ctx, file: bytes.NewReader(file)}
	var decode func(io.Reader, int64) (*persist.Snapshot, error)
	err = l.inside(func() error {
		r, f := l.r, l.following
		r.log.Info("MASTER <-> REPLICA sync: Loading DB in memory")
		if f.load == command.NoLoad { // the present data are no stream's from here on
			r.cutReplicas()
			r.end()
			f.known = false
		}
		in.quiet = r.env.Config.RDB.LoadInterval
		decode = r.files.Decoder()
		return nil
	})
	if err != nil {
		return err
	}
	data, err := decode(in, int64(len(file)))
	if err != nil {
		return err
	}
	return l.inside(func() error {
		r, f := l.r, l.following
		f.load = command.NoLoad
		db, err := r.files.Replace(data)
		if err != nil {
			return err
		}
		r.cutReplicas()
		r.moveTo(offset)
		r.id, r.id2, r.offset2, r.db = id, "", -1, db
		r.backlog = newBacklog(r.env.Config.Replication.Backlog, offset)
		r.log.Info("MASTER <-> REPLICA sync: Finished with success")
		l.up()
		return nil
	})
}

// slowly reads the file of a primary. It fails when ctx has ended. As in Redis a file that is read for
// long shows: the replica's clients get -LOADING.
type slowly struct {
	l     *link
	ctx   context.Context
	file  io.Reader
	quiet int64 // bytes until it shows (loading-process-events-interval-bytes)
}

func (r *slowly) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := r.file.Read(p[:min(len(p), 64<<10)])
	if r.quiet -= int64(n); r.quiet < 0 && r.quiet+int64(n) >= 0 {
		err = errors.Join(err, r.l.inside(func() error {
			if f := r.l.following; f.load == command.NoLoad {
				f.begin(command.LoadAlone, r.l.r.env.Space.Now())
			}
			return nil
		}))
	}
	return n, err
}

// breathe sends a newline each second until the function that it returns is called: the primary hears
// that this server lives while it loads.
func (l *link) breathe() (end func()) {
	var ended atomic.Bool
	var breath func()
	breath = func() {
		if !ended.Load() {
			l.heard.Store(true) // nobody listens meanwhile: the primary is not silent
			if _, err := l.nc.Write([]byte("\n")); err == nil {
				l.r.env.Server.After(time.Second, breath)
			}
		}
	}
	l.r.env.Server.After(time.Second, breath)
	return func() { ended.Store(true) }
}

// file reads the file of all data: of a length that is told, or up to a mark that is told.
func (l *link) file() ([]byte, error) {
	head, err := l.line()
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(head, "-") {
		return nil, fmt.Errorf("the MASTER gives no file: %s", head)
	}
	if mark, is := strings.CutPrefix(head, "$EOF:"); is && len(mark) == len(noID) {
		return l.fileUpTo([]byte(mark))
	}
	size, err := strconv.ParseInt(strings.TrimPrefix(head, "$"), 10, 64)
	if err != nil || size < 0 || head[0] != '$' {
		return nil, fmt.Errorf("bad protocol from MASTER, the first byte is not '$': %.100q", head)
	}
	l.fileBytes.Store(size)
	var file bytes.Buffer // it grows with what arrives: the size is only promised
	_, err = io.CopyN(&file, counting{l.in, &l.fileRead}, size)
	return file.Bytes(), err
}

// fileUpTo reads a file that ends with a mark. Nothing follows the mark before this server
// acknowledges the file.
func (l *link) fileUpTo(mark []byte) (file []byte, err error) {
	in := counting{l.in, &l.fileRead}
	buf := make([]byte, 64<<10)
	for !bytes.HasSuffix(file, mark) {
		n, err := in.Read(buf)
		if err != nil {
			return nil, err
		}
		file = append(file, buf[:n]...)
	}
	return file[:len(file)-len(mark)], nil
}

// counting counts what is read.
type counting struct {
	io.Reader
	n *atomic.Int64
}

func (c counting) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n.Add(int64(n))
	return n, err
}
