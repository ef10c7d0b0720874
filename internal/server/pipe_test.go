package server

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

func TestAPipeCarriesBytesBothWays(t *testing.T) {
	client, server := newPipe(1)
	for _, way := range [][2]net.Conn{{client, server}, {server, client}} {
		way[0].Write([]byte("hello"))
		b := make([]byte, 8)
		if n, err := way[1].Read(b); string(b[:n]) != "hello" || err != nil {
			t.Fatalf("read %q, %v", b[:n], err)
		}
	}
}

func TestAPipeIsReadToItsLastByteAfterClose(t *testing.T) {
	client, server := newPipe(1)
	server.Write([]byte("bye"))
	server.Close()
	if b, err := io.ReadAll(client); string(b) != "bye" || err != nil {
		t.Fatalf("read %q, %v", b, err)
	}
	if _, err := client.Write([]byte("x")); !errors.Is(err, io.ErrClosedPipe) {
		t.Fatalf("writing to a closed peer: %v", err)
	}
	if _, err := server.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
		t.Fatalf("reading from a closed end: %v", err)
	}
	if _, err := server.Write([]byte("x")); !errors.Is(err, net.ErrClosed) {
		t.Fatalf("writing to a closed end: %v", err)
	}
}

func TestClosingEitherEndWakesBlockedReadsAndWrites(t *testing.T) {
	for _, closeServer := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			client, server := newPipe(1)
			read, wrote := make(chan error, 1), make(chan error, 1)
			go func() { _, err := client.Read(make([]byte, 1)); read <- err }()
			go func() { _, err := client.Write(make([]byte, 2*pipeCapacity)); wrote <- err }()
			synctest.Wait()
			wantRead, wantWrite := io.EOF, io.ErrClosedPipe
			if closeServer {
				server.Close()
			} else {
				client.Close()
				wantRead, wantWrite = net.ErrClosed, net.ErrClosed
			}
			if err := <-read; !errors.Is(err, wantRead) {
				t.Errorf("read: %v, want %v", err, wantRead)
			}
			if err := <-wrote; !errors.Is(err, wantWrite) {
				t.Errorf("write: %v, want %v", err, wantWrite)
			}
		})
	}
}

func TestAWriterWaitsForRoomAndTheBytesKeepTheirOrder(t *testing.T) {
	client, server := newPipe(1)
	sent := make([]byte, 3*pipeCapacity+17)
	for i := range sent {
		sent[i] = byte(i % 251)
	}
	go func() {
		client.Write(sent)
		client.Close()
	}()
	if got, err := io.ReadAll(server); err != nil || !bytes.Equal(got, sent) {
		t.Fatalf("read %d bytes of %d, %v", len(got), len(sent), err)
	}
}

func TestWriteNowWritesOnlyWhatThereIsRoomFor(t *testing.T) {
	_, server := newPipe(1)
	now := server.(*pipeEnd)
	if n, err := now.WriteNow(make([]byte, pipeCapacity+5)); n != pipeCapacity || err != nil {
		t.Fatalf("wrote %d, %v", n, err)
	}
	if n, err := now.WriteNow([]byte("x")); n != 0 || err != nil {
		t.Fatalf("a full pipe took %d, %v", n, err)
	}
}

func TestADeadlineEndsABlockedReadAndWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := newPipe(1)
		server.(*pipeEnd).WriteNow(make([]byte, pipeCapacity))
		for name, wait := range map[string]func() error{
			"read": func() error {
				client.SetReadDeadline(time.Now().Add(time.Second))
				return readAll(client)
			},
			"write": func() error {
				server.SetWriteDeadline(time.Now().Add(time.Second))
				return writeOne(server)
			},
		} {
			if name == "write" {
				server.(*pipeEnd).WriteNow(make([]byte, pipeCapacity))
			}
			start := time.Now()
			if err := wait(); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(start) != time.Second {
				t.Errorf("%s ended after %v with %v", name, time.Since(start), err)
			}
		}
	})
}

// readAll reads until an error, which it returns.
func readAll(nc net.Conn) error {
	_, err := io.Copy(io.Discard, struct{ io.Reader }{nc})
	return err
}

func writeOne(nc net.Conn) error {
	_, err := nc.Write([]byte("x"))
	return err
}

func TestABlockedReadEndsAtTheDeadlineThatWasSetLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, _ := newPipe(1)
		start := time.Now()
		client.SetReadDeadline(start.Add(time.Hour))
		done := make(chan error, 1)
		go func() { done <- readAll(client) }()
		synctest.Wait()
		// The new deadline is earlier than the one that the reader waits for.
		client.SetReadDeadline(start.Add(time.Second))
		time.Sleep(500 * time.Millisecond)
		client.SetReadDeadline(start.Add(2 * time.Second)) // later than the time that the timer is set to
		if err := <-done; !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(start) != 2*time.Second {
			t.Fatalf("ended after %v with %v", time.Since(start), err)
		}
	})
}

func TestAPastDeadlineInterruptsAReadUntilItIsRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := newPipe(1)
		done := make(chan error, 1)
		go func() { _, err := client.Read(make([]byte, 1)); done <- err }()
		synctest.Wait()
		client.SetReadDeadline(time.Unix(1, 0))
		if err := <-done; !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatal(err)
		}
		server.Write([]byte("x"))
		if _, err := client.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("bytes won over a past deadline: %v", err)
		}
		client.SetReadDeadline(time.Time{})
		if n, err := client.Read(make([]byte, 1)); n != 1 || err != nil {
			t.Fatal(n, err)
		}
	})
}

func TestADeadlineWithoutAWaiterArmsNoTimer(t *testing.T) {
	client, _ := newPipe(1)
	client.SetDeadline(time.Now().Add(time.Hour))
	if p := client.(*clientEnd); p.in.reading.timer != nil || p.out.writing.timer != nil {
		t.Fatal("a timer was armed")
	}
}

// The server may answer at once, so an error that only a wait makes would come by chance.
func TestAClientWritesNothingAcrossABubblesBorder(t *testing.T) {
	outer, outerServer := newPipe(1)
	var inner, innerServer net.Conn
	refuses := func(t *testing.T, client, server net.Conn) {
		t.Helper()
		if n, err := client.Write([]byte("PING\r\n")); n != 0 || err != errBubble {
			t.Errorf("wrote %d bytes, %v", n, err)
		}
		if n := server.(*pipeEnd).ReadNow(make([]byte, 1)); n != 0 {
			t.Error("a byte has arrived")
		}
	}
	synctest.Test(t, func(t *testing.T) {
		refuses(t, outer, outerServer)
		inner, innerServer = newPipe(2)
	})
	refuses(t, inner, innerServer)
}
