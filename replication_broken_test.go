package lockredis_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/lockredis/lockredis/compat_test/wire"
	"github.com/lockredis/lockredis/internal/redistest"
	"github.com/lockredis/lockredis/resp"
)

// fake is a primary that a test makes.
type fake struct {
	place string // as REPLICAOF takes it
	came  atomic.Int32
}

// visit is a connection of a replica to a fake.
type visit struct {
	net.Conn
	in *wire.Conn
	n  int // of the connection, from 1
}

// newFake serves each replica with a function. The connection closes when it returns.
func newFake(t *testing.T, serve func(v *visit)) *fake {
	t.Helper()
	ln := listenLocal(t)
	host, port, _ := net.SplitHostPort(ln.Addr().String())
	f := &fake{place: host + " " + port}
	var all sync.WaitGroup
	var mu sync.Mutex
	open := map[net.Conn]bool{}
	all.Go(func() {
		for {
			nc, err := ln.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open[nc] = true
			mu.Unlock()
			n := int(f.came.Add(1))
			all.Go(func() {
				defer nc.Close()
				serve(&visit{nc, wire.NewConn(nc), n})
			})
		}
	})
	t.Cleanup(func() {
		ln.Close()
		mu.Lock()
		for nc := range open {
			nc.Close()
		}
		mu.Unlock()
		all.Wait()
	})
	return f
}

// command reads a command of the replica. It is nil at the connection's end, and for a newline.
func (v *visit) command() (words []string) {
	got, _ := v.in.ReceiveWithin(0)
	for _, word := range got.Elems {
		words = append(words, string(word.Str))
	}
	return words
}

// greet answers the replica until it sends PSYNC, and returns the words of it.
func (v *visit) greet() []string {
	for {
		words := v.command()
		switch {
		case words == nil:
			return nil
		case words[0] == "PING":
			v.say("+PONG\r\n")
		case words[0] == "PSYNC":
			return words
		default:
			v.say("+OK\r\n")
		}
	}
}

func (v *visit) say(text string) { io.WriteString(v, text) }

// tell tells command lines, and returns their bytes' number.
func (v *visit) tell(lines ...string) (n int) {
	for _, line := range lines {
		b := resp.AppendCommand(nil, strings.Fields(line)...)
		v.Write(b)
		n += len(b)
	}
	return n
}

// rest reads until the replica closes the connection.
func (v *visit) rest() { io.Copy(io.Discard, v) }

const fakeID = "0123456789abcdef0123456789abcdef01234567"

// give gives a file of all data at an offset.
func (v *visit) give(file []byte, offset int) {
	v.say(fmt.Sprintf("+FULLRESYNC %s %d\r\n$%d\r\n%s", fakeID, offset, len(file), file))
}

// rdbFile returns an RDB file with one key, k, in database 0.
func rdbFile(t *testing.T, value string) []byte {
	t.Helper()
	dir := t.TempDir()
	m := newMember(t, map[string]string{"dir": dir})
	m.all("SET k "+value, "SAVE")
	m.srv.Close()
	file, err := os.ReadFile(filepath.Join(dir, "dump.rdb"))
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// leavesNothing checks that the test ends its goroutines, when it and its other cleanups have ended.
func leavesNothing(t *testing.T) {
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, before) })
}

// A primary that fails in the handshake is tried again. The data of the replica stay.
func TestAReplicaOutlivesAPrimaryThatFailsInTheHandshake(t *testing.T) {
	leavesNothing(t)
	file := rdbFile(t, "theirs")
	full := "+FULLRESYNC " + fakeID + " 10\r\n"
	half := full + "$" + strconv.Itoa(len(file)) + "\r\n" + string(file[:len(file)/2])
	marked := full + "$EOF:" + fakeID + "\r\n" + string(file)
	after := func(commands int, say string) func(*visit) {
		return func(v *visit) {
			for range commands {
				if words := v.command(); words == nil || words[0] == "PSYNC" {
					break
				} else if words[0] == "PING" {
					v.say("+PONG\r\n")
				} else {
					v.say("+OK\r\n")
				}
			}
			v.say(say)
		}
	}
	synced := func(say string) func(*visit) {
		return func(v *visit) { v.greet(); v.say(say) }
	}
	silent := func(serve func(*visit)) func(*visit) {
		return func(v *visit) { serve(v); v.rest() }
	}
	for name, serve := range map[string]func(*visit){
		"closes at once":                after(0, ""),
		"closes after PING":             after(1, ""),
		"closes after the port":         after(2, ""),
		"closes after the capabilities": after(3, ""),
		"closes after PSYNC":            after(4, ""),
		"never answers":                 silent(after(0, "")),
		"never answers the port":        silent(after(1, "")),
		"never answers PSYNC":           silent(synced("")),
		"garbage for PONG":              silent(after(0, "garbage\r\n")),
		"an error for PONG":             silent(after(0, "-ERR what\r\n")),
		"binary for PONG":               silent(after(0, "\x00\xff\x01\r\n")),
		"a long line":                   silent(after(0, strings.Repeat("x", 1<<20))),
		"a long line for PSYNC":         silent(synced(strings.Repeat("x", 1<<20))),
		"blank lines, then the end":     after(0, strings.Repeat("\r\n", 10000)),
		"garbage for PSYNC":             silent(synced("what?\r\n")),
		"blanks for PSYNC":              silent(synced("   \r\n")),
		"LOADING":                       silent(synced("-LOADING x\r\n")),
		"NOMASTERLINK":                  silent(synced("-NOMASTERLINK x\r\n")),
		"an error for PSYNC":            silent(synced("-ERR unknown command\r\n")),
		"half of a +FULLRESYNC":         silent(synced("+FULLRESYNC\r\n")),
		"a short id":                    silent(synced("+FULLRESYNC abc 1\r\n")),
		"a wrong offset":                silent(synced("+FULLRESYNC " + fakeID + " x\r\n")),
		"a negative offset":             silent(synced("+FULLRESYNC " + fakeID + " -1\r\n")),
		"no file":                       silent(synced(full)),
		"no file, then the end":         synced(full),
		"an error for the file":         silent(synced(full + "-ERR no\r\n")),
		"garbage for the file":          silent(synced(full + "garbage\r\n")),
		"a wrong length":                silent(synced(full + "$x\r\n")),
		"a negative length":             silent(synced(full + "$-5\r\n")),
		"a length that is too great":    silent(synced(full + "$99999999999999999999\r\n")),
		"many gigabytes, of which few":  silent(synced(full + "$9000000000000\r\nREDIS0009")),
		"many gigabytes, then the end":  synced(full + "$9000000000000\r\nREDIS0009"),
		"half of a file":                silent(synced(half)),
		"half of a file, then the end":  synced(half),
		"a file without its mark":       silent(synced(marked)),
		"a file with half of a mark":    synced(marked + fakeID[:20]),
		"a mark that is too short": silent(synced(
			full + "$EOF:" + fakeID[:20] + "\r\n" + string(file))),
		"+CONTINUE, which nobody asks for": synced("+CONTINUE\r\n"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t, serve)
			r := newMember(t, map[string]string{"repl-timeout": "1"})
			r.do("SET k mine")
			r.do("REPLICAOF " + f.place)
			eventually(t, "a second try", func() bool { return f.came.Load() > 1 })
			r.want("GET k", "$4\r\nmine\r\n")
			r.do("REPLICAOF NO ONE")
			r.do("SET k again")
			r.Close()
			r.srv.Close()
		})
	}
}

func TestAReplicaThatHearsOnlyNewlinesEndsWhenItIsTold(t *testing.T) {
	leavesNothing(t)
	for _, begin := range []string{"", "+PONG\r\n+OK\r\n+OK\r\n+FULLRESYNC " + fakeID + " 10\r\n"} {
		f := newFake(t, func(v *visit) {
			v.say(begin)
			for err := error(nil); err == nil; _, err = io.WriteString(v, "\r\n\n\n\n") {
			}
		})
		r := newMember(t, nil)
		r.do("REPLICAOF " + f.place)
		eventually(t, "a connection", func() bool { return f.came.Load() > 0 })
		r.do("REPLICAOF NO ONE")
		r.do("SET k 1")
		r.do("REPLICAOF " + f.place)
		eventually(t, "another connection", func() bool { return f.came.Load() > 1 })
		r.Close()
		r.srv.Close()
	}
}

// The memory grows with what arrives, not with what is promised.
func TestAReplicaTakesNoMemoryForAPromise(t *testing.T) {
	file := rdbFile(t, "v")
	for _, length := range []string{"9000000000", "9223372036854775807"} {
		said := make(chan struct{}, 100)
		f := newFake(t, func(v *visit) {
			v.greet()
			v.give(file, 10)
			v.say("*2\r\n$" + length + "\r\nabc")
			said <- struct{}{}
			v.rest()
		})
		g := newFake(t, func(v *visit) {
			v.greet()
			v.say("+FULLRESYNC " + fakeID + " 10\r\n$" + length + "\r\nREDIS")
			said <- struct{}{}
			v.rest()
		})
		h := newFake(t, func(v *visit) {
			v.greet()
			v.give(file, 10)
			v.say("*2147483647\r\n$1\r\n")
			said <- struct{}{}
			v.rest()
		})
		before := held()
		for _, place := range []string{f.place, g.place, h.place} {
			r := newMember(t, nil)
			r.do("REPLICAOF " + place)
			<-said
			r.do("INFO")
			if now := held(); now.heap > before.heap+64<<20 {
				t.Errorf("%s: the heap grows from %d to %d bytes", length, before.heap, now.heap)
			}
			r.do("REPLICAOF NO ONE")
			r.srv.Close()
		}
	}
}

// After a broken file a replica has its old data, and is no part of any stream: its next PSYNC asks for all.
func TestABrokenFileLeavesTheDataAndNoStream(t *testing.T) {
	file := rdbFile(t, "theirs")
	flipped := bytes.Clone(file)
	flipped[len(flipped)-1] ^= 1
	for name, broken := range map[string][]byte{
		"the checksum": flipped, "the end": file[:len(file)-9], "nothing": {},
		"the head":    append([]byte("RADIS"), file[5:]...),
		"the version": append([]byte("REDIS9999"), file[9:]...),
		"a type":      append(bytes.Clone(file[:9]), 0xf0),
		// the type, the key, the value, the end, no checksum
		"a key twice": append(bytes.Clone(file[:len(file)-9]),
			"\x00\x01k\x06theirs\xff\x00\x00\x00\x00\x00\x00\x00\x00"...),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked, looked := make(chan []string, 100), make(chan struct{})
			f := newFake(t, func(v *visit) {
				asked <- v.greet()
				switch v.n {
				case 1:
					v.give(file, 100)
					v.tell("SELECT 0", "SET own 1")
				case 2: // the stream is lost
					v.give(broken, 500)
				case 3:
					select {
					case <-looked:
					case <-t.Context().Done():
					}
					v.give(file, 700)
				}
				v.command()
				if v.n == 1 || v.n == 3 {
					v.command()
				}
			})
			r := newMember(t, nil)
			r.do("REPLICAOF " + f.place)
			if w := <-asked; w[2] != "1" && w[2] != "-1" {
				t.Errorf("asked for %v", w)
			}
			if w := <-asked; w[1] != fakeID {
				t.Errorf("asked for %v", w)
			}
			if w := <-asked; w == nil || w[1] != "?" || w[2] != "-1" {
				t.Errorf("asked for %v after the broken file", w)
			}
			r.want("GET own", "$1\r\n1\r\n")
			close(looked)
			eventually(t, "the third file is loaded", func() bool {
				return r.info("slave_repl_offset") == "700"
			})
			r.want("GET k", "$6\r\ntheirs\r\n")
		})
	}
	t.Run("and then it leads", func(t *testing.T) {
		f := newFake(t, func(v *visit) {
			v.greet()
			if v.n == 1 {
				v.give(file, 100)
				v.command()
				return
			}
			v.give(flipped, 500)
			v.rest()
		})
		r := newMember(t, nil)
		r.do("REPLICAOF " + f.place)
		eventually(t, "the broken file", func() bool { return f.came.Load() > 2 })
		r.want("DBSIZE", ":1\r\n")
		r.do("REPLICAOF NO ONE")
		if id, id2 := r.info("master_replid"), r.info("master_replid2"); id == fakeID || id2 == fakeID {
			t.Errorf("with old data it says that it continues the stream: %s, %s", id, id2)
		}
	})
}

// With repl-diskless-load swapdb the old data stay until the new ones are complete. Clients see them if
// the file is of the same stream.
func TestASwapdbReplicaKeepsItsDataUntilAllOthersAreThere(t *testing.T) {
	file := rdbFile(t, "theirs")
	flipped := bytes.Clone(file)
	flipped[len(flipped)-1] ^= 1
	const loading = "LOADING Redis is loading the dataset in memory"
	half, next := make(chan bool, 100), make(chan bool)
	other := strings.Repeat("f", 40)
	f := newFake(t, func(v *visit) {
		v.greet()
		rest := file[20:]
		switch v.n {
		case 1:
			v.give(file, 100)
			v.command()
			v.tell("SELECT 0", "SET k mine")
			<-next
			return
		case 2: // the same stream; the connection ends
			v.say(fmt.Sprintf("+FULLRESYNC %s 500\r\n$%d\r\n%s", fakeID, len(file), file[:20]))
			half <- true
			<-next
			return
		case 3: // another stream; the file is broken
			v.say(fmt.Sprintf("+FULLRESYNC %s 600\r\n$%d\r\n%s", other, len(file), file[:20]))
			rest = flipped[20:]
		case 4:
			v.say(fmt.Sprintf("+FULLRESYNC %s 700\r\n$%d\r\n%s", fakeID, len(file), file[:20]))
		}
		half <- true
		<-next
		v.Write(rest)
		v.command()
		v.command()
	})
	t.Cleanup(func() { close(next) }) // after a failure, too
	r := newMember(t, map[string]string{"repl-diskless-load": "swapdb"})
	info := func(field string) string {
		return redistest.InfoFields(string(r.do("INFO persistence").Str))[field]
	}
	r.do("REPLICAOF " + f.place)
	eventually(t, "the data are there", func() bool {
		v, err := r.Do("GET", "k")
		return err == nil && string(v.Str) == "mine"
	})
	sub := r.another()
	sub.do("SUBSCRIBE c")
	next <- true

	aside := func() {
		t.Helper()
		<-half
		eventually(t, "the file comes", func() bool {
			return info("async_loading") == "1" && info("loading_total_bytes") == fmt.Sprint(len(file))
		})
		if info("loading") != "0" {
			t.Error("the server says that it has no data")
		}
		r.want("GET k", "$4\r\nmine\r\n")
		for _, line := range []string{"REPLICAOF NO ONE", "SAVE", "BGSAVE", "CONFIG SET appendonly no"} {
			r.refuses(line, loading)
		}
		r.all("MULTI", "GET k", "EXEC", "CONFIG SET maxmemory 0")
	}
	aside()
	next <- true

	<-half
	eventually(t, "a file of another stream comes", func() bool { return info("loading") == "1" })
	if info("async_loading") != "0" {
		t.Error("the server says that its data are a part of the stream")
	}
	for _, line := range []string{"GET k", "PING", "REPLICAOF NO ONE", "CONFIG SET appendonly no"} {
		r.refuses(line, loading)
	}
	r.all("CONFIG GET port", "ROLE")
	next <- true

	aside()
	next <- true
	r.awaitUp()
	r.want("GET k", "$6\r\ntheirs\r\n")
	if info("async_loading") != "0" || info("loading") != "0" || r.info("slave_repl_offset") != "700" {
		t.Errorf("when the data are there INFO has %s, %s, %s",
			info("async_loading"), info("loading"), r.info("slave_repl_offset"))
	}
}

// What a replica has applied it acknowledges, and asks for what is behind it.
func TestAStreamThatStopsIsContinuedWhereItWasApplied(t *testing.T) {
	file := rdbFile(t, "0")
	const multi = "*1\r\n$5\r\nMULTI\r\n*2\r\n$4\r\nINCR\r\n$1\r\nk\r\n"
	for name, c := range map[string]struct {
		whole []string
		part  string
	}{
		"in MULTI":              {[]string{"SELECT 0", "INCR k"}, multi},
		"in a bulk":             {[]string{"INCR k"}, "*2\r\n$4\r\nINCR\r\n$1\r\n"},
		"in a length":           {[]string{"INCR k"}, "*2\r\n$4"},
		"in a count":            {[]string{"INCR k"}, "*"},
		"in EXEC":               {[]string{"INCR k"}, multi + "*1\r\n$4\r\nEXEC\r"},
		"behind EXEC":           {[]string{"MULTI", "INCR k", "EXEC"}, ""},
		"behind newlines":       {[]string{"INCR k"}, "\n\n\n"},
		"behind an unknown one": {[]string{"NOSUCH a b", "INCR k", "GET", "LPUSH k x"}, ""},
		"behind a far database": {[]string{"INCR k", "SELECT 99", "SELECT x"}, ""},
		"behind GETACK": {[]string{
			"REPLCONF GETACK *", "MULTI", "REPLCONF GETACK *", "INCR k", "EXEC", "REPLCONF GETACK *"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked, end := make(chan []string, 100), make(chan int, 100)
			f := newFake(t, func(v *visit) {
				words := v.greet()
				asked <- words
				if v.n > 1 {
					v.say("+CONTINUE\r\n")
					v.rest()
					return
				}
				v.give(file, 1000)
				n := 1000 + v.tell(c.whole...)
				v.say(c.part)
				for got := ""; got != strconv.Itoa(n); {
					words := v.command()
					if len(words) == 3 {
						got = words[2]
					} else if words == nil {
						break
					}
				}
				end <- n
			})
			r := newMember(t, nil)
			r.do("REPLICAOF " + f.place)
			n := <-end
			<-asked
			if w := <-asked; w[1] != fakeID || w[2] != strconv.Itoa(n+1) {
				t.Errorf("asked for %v, want what is behind %d", w, n)
			}
			r.want("GET k", "$1\r\n1\r\n")
			r.awaitUp()
		})
	}
}

// After bytes that are no command a replica asks for all data, and not for the same bytes again.
func TestAfterAMalformedStreamAllDataAreAskedFor(t *testing.T) {
	file := rdbFile(t, "0")
	for _, part := range []string{
		"*x\r\n", "*1\r\n:5\r\n", "*1\r\n$-5\r\n", "hello there\r\n", "+OK\r\n", "FLUSHALL\r\n",
		"*2\r\n$1\r\nabc\r\n", "*1\r\n$5\r\nMULTI\r\n*x\r\n", strings.Repeat("x", 100000),
	} {
		t.Run(fmt.Sprintf("%.20q", part), func(t *testing.T) {
			asked := make(chan []string, 100)
			f := newFake(t, func(v *visit) {
				asked <- v.greet()
				v.give(file, 1000)
				if v.n == 1 {
					v.tell("INCR k")
					v.say(part)
				}
				v.rest()
			})
			r := newMember(t, nil)
			r.do("REPLICAOF " + f.place)
			<-asked
			if w := <-asked; w == nil || w[1] != "?" {
				t.Errorf("asked for %v", w)
			}
			eventually(t, "all data have come again", func() bool {
				return string(r.do("GET k").Raw) == "$1\r\n0\r\n"
			})
		})
	}
}

// REPLCONF GETACK comes in pieces, at every place of a stream.
func TestAcknowledgementsTellWhatIsApplied(t *testing.T) {
	file := rdbFile(t, "0")
	var stream []byte
	var offsets []int
	for i := range 50 {
		stream = resp.AppendCommand(stream, "INCR", "k")
		if i%3 == 0 {
			offsets = append(offsets, len(stream))
			stream = resp.AppendCommand(stream, "REPLCONF", "GETACK", "*")
		}
	}
	f := newFake(t, func(v *visit) {
		v.greet()
		v.give(file, 0)
		sent, last := 0, -1
		acked := make(chan int, 1000)
		go func() {
			defer close(acked)
			for words := v.command(); words != nil; words = v.command() {
				n, _ := strconv.Atoi(words[2])
				acked <- n
			}
		}()
		for _, at := range offsets {
			for sent < at+len(resp.AppendCommand(nil, "REPLCONF", "GETACK", "*")) {
				v.Write(stream[sent : sent+1])
				sent++
			}
			for last < at {
				n, ok := <-acked
				if !ok {
					return
				}
				if n > sent || n < last {
					t.Errorf("acknowledged %d of %d after %d", n, sent, last)
				}
				last = n
			}
		}
		v.Write(stream[sent:])
		for range acked {
		}
	})
	r := newMember(t, nil)
	r.do("REPLICAOF " + f.place)
	eventually(t, "the whole stream", func() bool {
		return r.info("slave_repl_offset") == strconv.Itoa(len(stream))
	})
	r.want("GET k", "$2\r\n50\r\n")
}

func TestARDBWithAMarkInPiecesIsRead(t *testing.T) {
	file := rdbFile(t, "theirs")
	f := newFake(t, func(v *visit) {
		v.greet()
		all := "+FULLRESYNC " + fakeID + " 7\r\n\n\n$EOF:" + fakeID + "\r\n" + string(file) + fakeID
		for i := range len(all) {
			v.Write([]byte{all[i]})
		}
		v.command()
		v.tell("SET more 1")
		v.rest()
	})
	r := newMember(t, nil)
	r.do("REPLICAOF " + f.place)
	eventually(t, "the stream behind the file", func() bool {
		return string(r.do("EXISTS more k").Raw) == ":2\r\n"
	})
}

// Close comes at random moments of the handshake, the file and the stream.
func TestCloseEndsALinkAtAnyMoment(t *testing.T) {
	leavesNothing(t)
	p := newMember(t, nil)
	for i := range 2000 {
		p.do(fmt.Sprintf("SET k%d %0100d", i, i))
	}
	stop := make(chan struct{})
	var writing sync.WaitGroup
	writer := p.another()
	writing.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			if _, err := writer.Do("SET", "k"+strconv.Itoa(i%2000), "w"); err != nil {
				t.Error(err)
				return
			}
		}
	})
	seed := uint64(time.Now().UnixNano())
	rnd := rand.New(rand.NewPCG(seed, 1))
	rounds := 200
	if testing.Short() {
		rounds = 20
	}
	for round := range rounds {
		r := newMember(t, nil)
		r.do("REPLICAOF " + p.place())
		for range rnd.IntN(2000) {
			runtime.Gosched()
		}
		if rnd.IntN(2) == 0 {
			r.do("REPLICAOF NO ONE")
			r.do("REPLICAOF " + p.place())
		}
		for range rnd.IntN(500) {
			runtime.Gosched()
		}
		if err := r.srv.Close(); err != nil {
			t.Errorf("seed %d, round %d: %v", seed, round, err)
		}
		r.Close()
	}
	close(stop)
	writing.Wait()
	eventually(t, "the primary has no replicas", func() bool { return p.info("connected_slaves") == "0" })
	p.Close()
	writer.Close()
	p.srv.Close()
}
